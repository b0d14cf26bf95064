package web

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	_ "image/png" // a trace may hold either

	"tas-service/internal/evidence"
)

// Bounds of a picture that something is drawn on, in pixels, and how it looks.
const (
	maxPixels = 16 << 20
	frameWide = 3
	quality   = 85
)

// marked draws a frame around the element in a picture: a JPEG. A picture that does not tell
// where the element is, or that cannot be read, is answered as it is.
func marked(p evidence.Picture) evidence.Picture {
	if p.Box == nil || p.Width <= 0 || p.Height <= 0 {
		return p
	}
	size, _, err := image.DecodeConfig(bytes.NewReader(p.Body))
	if err != nil || size.Width <= 0 || size.Height <= 0 || size.Width > maxPixels/size.Height {
		return p
	}
	img, _, err := image.Decode(bytes.NewReader(p.Body))
	if err != nil {
		return p
	}
	all := img.Bounds()
	out := image.NewRGBA(all)
	draw.Draw(out, all, img, all.Min, draw.Src)
	// The picture may be smaller than the window that it shows.
	x, y := float64(all.Dx())/p.Width, float64(all.Dy())/p.Height
	at := func(v, scale, limit float64) int { return int(min(max(v*scale, -limit), 2*limit)) }
	w, h := float64(all.Dx()), float64(all.Dy())
	box := image.Rect(at(p.Box.X, x, w), at(p.Box.Y, y, h), at(p.Box.X+p.Box.Width, x, w), at(p.Box.Y+p.Box.Height, y, h)).Add(all.Min)
	outer := box.Inset(-2 * frameWide)
	for _, f := range []struct {
		inset int
		tone  color.RGBA
	}{{0, color.RGBA{R: 255, G: 255, B: 255, A: 255}}, {1, color.RGBA{R: 23, G: 101, B: 59, A: 255}}} { // seen on light and on dark
		r, in := outer.Inset(f.inset), outer.Inset(frameWide+1-f.inset)
		for _, side := range []image.Rectangle{{r.Min, image.Pt(r.Max.X, in.Min.Y)}, {image.Pt(r.Min.X, in.Max.Y), r.Max}, {r.Min, image.Pt(in.Min.X, r.Max.Y)}, {image.Pt(in.Max.X, r.Min.Y), r.Max}} {
			draw.Draw(out, side, image.NewUniform(f.tone), image.Point{}, draw.Src)
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, out, &jpeg.Options{Quality: quality}); err != nil {
		return p
	}
	p.Body, p.ContentType = b.Bytes(), "image/jpeg"
	return p
}
