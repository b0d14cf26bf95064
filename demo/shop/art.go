package shop

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// art says how a product's picture is drawn: what it is, what is printed on it, and its colours.
type art struct {
	shape string
	motif string
	main  string
	dark  string
	light string
	back  string
}

// drawProduct draws the picture of a product. With a label it is an image of that name, without one it is
// decoration beside the name.
func drawProduct(p product, label string) template.HTML {
	a := p.art
	body := fmt.Sprintf(`<rect width="400" height="400" fill="%s"/><circle cx="200" cy="190" r="150" fill="#fff" opacity=".35"/>`, a.back) + a.object()
	return picture(`0 0 400 400`, label, body)
}

// drawHero draws a few products on a shelf.
func drawHero() template.HTML {
	var b strings.Builder
	b.WriteString(`<circle cx="330" cy="170" r="150" fill="#f3d9a4" opacity=".5"/>`)
	b.WriteString(`<path d="M215 96q16-18 0-36t0-36M245 104q16-18 0-36t0-36" class="steam"/>`)
	place := func(slug string, x, y, scale float64) {
		p, _ := findProduct(slug)
		fmt.Fprintf(&b, `<g transform="translate(%g %g) scale(%g)">%s</g>`, x, y, scale, p.art.object())
	}
	place("harbour-blend", 330, 18, .8)
	place("sencha-spring", 238, 116, .52)
	place("gooseneck-kettle", -6, 48, .68)
	place("tide-mug", 196, 174, .36)
	b.WriteString(`<rect x="0" y="302" width="640" height="14" rx="7" fill="#a5714a"/><rect x="0" y="309" width="640" height="7" rx="3.5" fill="#000" opacity=".15"/>`)
	return picture(`0 0 640 330`, "", b.String())
}

// drawLogo is a leaf that is also a cup's steam.
func drawLogo() template.HTML {
	return picture(`0 0 40 40`, "", `<path d="M8 22h20v4a9 9 0 0 1-9 9h-2a9 9 0 0 1-9-9z" fill="currentColor"/><path d="M28 24h2a4 4 0 0 1 0 8h-3" fill="none" stroke="currentColor" stroke-width="2.5"/>`+
		`<path d="M17 19C12 11 17 5 28 4c1 9-3 15-11 15zm0 0 6-9" fill="none" stroke="currentColor" stroke-width="2.5" stroke-linejoin="round" stroke-linecap="round"/>`)
}

func picture(box, label, body string) template.HTML {
	access := `aria-hidden="true"`
	if label != "" {
		access = `role="img" aria-label="` + html.EscapeString(label) + `"`
	}
	return template.HTML(`<svg viewBox="` + box + `" ` + access + `>` + body + `</svg>`)
}

const ground = `<ellipse cx="200" cy="352" rx="%d" ry="14" fill="#000" opacity=".13"/>`

// object draws the thing itself on a square of 400, standing at a height of 352.
func (a art) object() string {
	in := strings.NewReplacer("MAIN", a.main, "DARK", a.dark, "LIGHT", a.light)
	switch a.shape {
	case "bag":
		return fmt.Sprintf(ground, 112) + in.Replace(`<path d="M106 92h188l10 236q1 22-20 24H116q-21-2-20-24z" fill="MAIN"/>`+
			`<path d="M268 92h26l10 236q1 22-20 24h-30q22-120 14-260z" fill="DARK" opacity=".55"/>`+
			`<path d="M106 92h188l-5-40q-1-6-7-6H118q-6 0-7 6z" fill="DARK"/><path d="M108 74h184" stroke="#fff" stroke-width="2" stroke-dasharray="3 6" opacity=".45"/>`+
			`<circle cx="200" cy="112" r="7" fill="DARK"/><circle cx="200" cy="112" r="2.5" fill="MAIN"/>`+
			`<rect x="128" y="140" width="144" height="166" rx="8" fill="LIGHT"/>`) + a.print(200, 212, 56) +
			in.Replace(`<path d="M164 282h72M178 293h44" stroke="MAIN" stroke-width="4" stroke-linecap="round"/>`)
	case "tin":
		return fmt.Sprintf(ground, 104) + in.Replace(`<path d="M108 110h184v218q0 24-92 24t-92-24z" fill="MAIN"/>`+
			`<path d="M258 110h34v218q0 12-34 18z" fill="DARK" opacity=".6"/><path d="M120 112h16v226q-12-3-16-7z" fill="#fff" opacity=".18"/>`+
			`<path d="M102 76q0-20 98-20t98 20v38q0 16-98 16t-98-16z" fill="DARK"/><ellipse cx="200" cy="76" rx="98" ry="20" fill="MAIN"/><ellipse cx="200" cy="75" rx="74" ry="13" fill="#fff" opacity=".2"/>`+
			`<path d="M108 176q92 22 184 0v112q-92 24-184 0z" fill="LIGHT"/>`) + a.print(200, 238, 46)
	case "mug":
		return fmt.Sprintf(ground, 110) + in.Replace(`<path d="M274 176h24a46 46 0 0 1 0 108h-34" fill="none" stroke="DARK" stroke-width="22"/>`+
			`<path d="M100 140h188v160q0 52-52 52h-84q-52 0-52-52z" fill="MAIN"/>`+
			`<path d="M100 236q32-22 62 0t62 0 64-4v68q0 52-52 52h-84q-52 0-52-52z" fill="LIGHT"/>`+
			`<path d="M250 140h38v160q0 52-52 52h-22q36-60 36-212z" fill="#000" opacity=".08"/>`+
			`<ellipse cx="194" cy="140" rx="94" ry="20" fill="DARK"/><ellipse cx="194" cy="143" rx="82" ry="14" fill="#5b3a29"/>`+
			`<path d="M160 104q14-16 0-32t0-32M200 104q14-16 0-32t0-32M240 104q14-16 0-32t0-32" fill="none" stroke="#fff" stroke-width="7" stroke-linecap="round" opacity=".75"/>`)
	case "pair":
		cup := `<path d="M116 120h22a34 34 0 0 1 0 76h-30" fill="none" stroke="DARK" stroke-width="15"/><path d="M0 96h124v84q0 44-44 44H44q-44 0-44-44z" fill="MAIN"/>` +
			`<path d="M96 96h28v84q0 44-44 44h-8q24-40 24-128z" fill="#000" opacity=".1"/><ellipse cx="62" cy="96" rx="62" ry="13" fill="DARK"/><ellipse cx="62" cy="98" rx="53" ry="9" fill="LIGHT"/>` +
			`<ellipse cx="62" cy="228" rx="92" ry="12" fill="DARK"/><ellipse cx="62" cy="224" rx="92" ry="12" fill="MAIN"/>`
		return fmt.Sprintf(ground, 150) + in.Replace(`<g transform="translate(188 48) scale(.82)">`+cup+`</g><g transform="translate(72 112)">`+cup+`</g>`)
	case "teapot":
		return fmt.Sprintf(ground, 120) + in.Replace(`<path d="M104 226q-44-8-56-62-4-16-20-18" fill="none" stroke="DARK" stroke-width="22" stroke-linecap="round"/>`+
			`<path d="M300 196q66-20 66 36t-74 58" fill="none" stroke="DARK" stroke-width="18" stroke-linecap="round"/>`+
			`<path d="M90 244q0-88 112-88t112 88q0 84-64 108h-96q-64-24-64-108z" fill="MAIN"/><path d="M258 168q56 22 56 76 0 84-64 108h-46q74-70 54-184z" fill="DARK" opacity=".5"/>`+
			`<path d="M128 252q72 26 148 0" fill="none" stroke="LIGHT" stroke-width="5" stroke-linecap="round" opacity=".7"/>`+
			`<path d="M146 160q8-34 56-34t56 34q-56 18-112 0z" fill="DARK"/><circle cx="202" cy="114" r="15" fill="MAIN"/>`)
	case "kettle":
		return fmt.Sprintf(ground, 118) + in.Replace(`<path d="M128 300q-56 8-62-78-4-78-42-86" fill="none" stroke="MAIN" stroke-width="14" stroke-linecap="round"/>`+
			`<path d="M272 176q14-58 66-52 34 6 28 76l-8 74" fill="none" stroke="LIGHT" stroke-width="20" stroke-linecap="round"/>`+
			`<path d="M128 160h148l26 158q2 20-20 20H122q-22 0-20-20z" fill="MAIN"/><path d="M242 160h34l26 158q2 20-20 20h-26q8-80-14-178z" fill="DARK"/><path d="M142 176h14l-14 146h-16z" fill="#fff" opacity=".16"/>`+
			`<rect x="94" y="334" width="214" height="18" rx="9" fill="DARK"/><path d="M136 160q6-28 66-28t66 28z" fill="DARK"/><rect x="190" y="108" width="24" height="22" rx="8" fill="LIGHT"/>`)
	case "dripper":
		return fmt.Sprintf(ground, 92) + in.Replace(`<path d="M116 252h168l-12 84q-2 16-20 16H148q-18 0-20-16z" fill="#fff" opacity=".75"/><path d="M124 296h152l-6 40q-2 16-18 16H148q-16 0-18-16z" fill="LIGHT" opacity=".85"/>`+
			`<rect x="104" y="230" width="192" height="24" rx="12" fill="DARK"/><path d="M88 104h224l-72 126h-80z" fill="MAIN"/><path d="M256 104h56l-72 126h-38z" fill="DARK" opacity=".55"/>`+
			`<path d="M132 120l52 96M168 116l26 100M208 116v100" stroke="DARK" stroke-width="4" opacity=".5" stroke-linecap="round"/>`+
			`<path d="M304 128q44-6 42 26t-64 24" fill="none" stroke="DARK" stroke-width="14" stroke-linecap="round"/>`+
			`<path d="M96 104l20-44h168l20 44z" fill="#fffdf8"/><path d="M116 60l14 44M284 60l-14 44" stroke="#000" opacity=".1" stroke-width="3"/><ellipse cx="200" cy="104" rx="112" ry="12" fill="DARK"/><ellipse cx="200" cy="102" rx="96" ry="8" fill="#5b3a29"/>`)
	case "press":
		return fmt.Sprintf(ground, 96) + in.Replace(`<path d="M276 150q70-6 70 60t-70 80" fill="none" stroke="DARK" stroke-width="16" stroke-linecap="round"/>`+
			`<rect x="120" y="118" width="160" height="222" rx="14" fill="#fff" opacity=".7"/><path d="M128 214h144v108q0 12-12 12H140q-12 0-12-12z" fill="MAIN"/><rect x="128" y="204" width="144" height="14" rx="4" fill="LIGHT"/>`+
			`<rect x="195" y="44" width="10" height="164" fill="LIGHT"/><circle cx="200" cy="42" r="17" fill="DARK"/>`+
			`<path d="M112 120q0-26 88-26t88 26v8H112z" fill="LIGHT"/><path d="M116 122l-26-6 8 22 20 4z" fill="LIGHT"/>`+
			`<path d="M120 168h160M120 312h160" stroke="LIGHT" stroke-width="9"/><path d="M112 344h176" stroke="LIGHT" stroke-width="16" stroke-linecap="round"/><path d="M142 136v190" stroke="#fff" stroke-width="9" stroke-linecap="round" opacity=".55"/>`)
	case "grinder":
		return fmt.Sprintf(ground, 74) + in.Replace(`<path d="M200 84h112" stroke="DARK" stroke-width="12" stroke-linecap="round"/><path d="M300 40h28q8 0 8 8l-4 34h-36l-4-34q0-8 8-8z" fill="LIGHT"/>`+
			`<rect x="190" y="70" width="20" height="34" rx="5" fill="DARK"/><path d="M146 104q0-10 54-10t54 10v18H146z" fill="DARK"/>`+
			`<rect x="142" y="120" width="116" height="122" rx="8" fill="MAIN"/><rect x="226" y="120" width="32" height="122" rx="8" fill="DARK" opacity=".7"/><path d="M156 130v102" stroke="#fff" stroke-width="8" opacity=".35" stroke-linecap="round"/>`+
			`<rect x="138" y="240" width="124" height="16" rx="5" fill="DARK"/><path d="M146 256h108v82q0 14-14 14h-80q-14 0-14-14z" fill="LIGHT"/><path d="M226 256h28v82q0 14-14 14h-20q10-40 6-96z" fill="#000" opacity=".14"/>`)
	}
	return ""
}

// print draws the motif on a label, around a point.
func (a art) print(x, y, r float64) string {
	g := func(body string) string {
		return fmt.Sprintf(`<g transform="translate(%g %g) scale(%g)" fill="%s" stroke="none">%s</g>`, x, y, r/50, a.main, body)
	}
	switch a.motif {
	case "wave":
		line := `<path d="M-50 %d q12.5-20 25 0t25 0 25 0 25 0" fill="none" stroke="` + a.main + `" stroke-width="6" stroke-linecap="round"/>`
		return g(`<circle cx="18" cy="-22" r="17"/>` + fmt.Sprintf(line, 8) + fmt.Sprintf(line, 26) + fmt.Sprintf(line, 44))
	case "sun":
		var rays strings.Builder
		for i := range 9 {
			angle := math.Pi * float64(i) / 8
			fmt.Fprintf(&rays, `<path d="M%.1f %.1f L%.1f %.1f" stroke="%s" stroke-width="5" stroke-linecap="round"/>`,
				-34*math.Cos(angle), 20-34*math.Sin(angle), -48*math.Cos(angle), 20-48*math.Sin(angle), a.main)
		}
		return g(`<path d="M-26 20a26 26 0 0 1 52 0z"/><path d="M-50 30h100M-34 42h68" stroke="` + a.main + `" stroke-width="5" stroke-linecap="round"/>` + rays.String())
	case "hill":
		return g(`<circle cx="16" cy="-20" r="15" opacity=".55"/><path d="M-50 36l32-58 22 36 14-20 32 42z"/><path d="M-50 44h100" stroke="` + a.main + `" stroke-width="4"/>`)
	case "moon":
		return g(`<path d="M10-42a42 42 0 1 0 32 62A34 34 0 0 1 10-42z"/><circle cx="30" cy="-24" r="4"/><circle cx="42" cy="-4" r="2.5"/><circle cx="20" cy="-6" r="2.5"/>`)
	case "leaf":
		leaf := `<path d="M0 40C-26 14-24-16 0-44 24-16 26 14 0 40z"/><path d="M0 44V-24M0 10l12-14M0 24l-12-14" stroke="` + a.light + `" stroke-width="3" stroke-linecap="round"/>`
		return g(`<g transform="translate(-18 6) rotate(-38) scale(.72)" opacity=".6">` + leaf + `</g><g transform="translate(18 6) rotate(38) scale(.72)" opacity=".6">` + leaf + `</g>` + leaf)
	case "flower":
		var petals strings.Builder
		for i := range 8 {
			fmt.Fprintf(&petals, `<ellipse cx="0" cy="-28" rx="10" ry="18" transform="rotate(%d)"/>`, i*45)
		}
		return g(petals.String() + `<circle r="12" fill="` + a.light + `"/><circle r="7" fill="` + a.dark + `"/>`)
	}
	return ""
}
