package relocate

import "strings"

// region is a set of parts of a page that an element is said to be in. Pages are built anew, and
// what was in the footer still is; a word says the same as the tag that it stands for.
type region uint8

const (
	inHeader region = 1 << iota
	inFooter
	inNavigation
	inMain
	inAside
	inForm
	inTable
	inDialog

	// apartRegions exclude one another, as far as an element is in one of them alone.
	apartRegions = inHeader | inFooter | inMain | inAside
)

func regionOf(word string) region {
	switch word {
	case "header", "banner", "masthead":
		return inHeader
	case "footer", "contentinfo":
		return inFooter
	case "nav", "navigation", "navbar":
		return inNavigation
	case "main":
		return inMain
	case "aside", "sidebar", "complementary":
		return inAside
	case "form":
		return inForm
	case "table":
		return inTable
	case "dialog", "modal":
		return inDialog
	}
	return 0
}

// regionsOf reads what the tags above an element say of its region, its landmark, the identifier
// that its path begins at, and the words of its own identifier and classes.
func regionsOf(e *Element, anchor []string) region {
	r := regionOf(strings.ToLower(e.Landmark))
	for part := range strings.SplitSeq(e.Path, "/") {
		tag, _, _ := strings.Cut(part, "[")
		r |= regionOf(tag)
	}
	for _, words := range [][]string{anchor, stable(e.Class + " " + e.ID)} {
		for _, w := range words {
			r |= regionOf(w)
		}
	}
	return r
}

// anchorWords answers the words of the identifier that an element's anchored path begins at.
func anchorWords(e *Element) []string {
	_, rest, _ := strings.Cut(strings.ReplaceAll(e.Anchored, "'", `"`), `"`)
	id, _, closed := strings.Cut(rest, `"`)
	if !closed || made(id) {
		return nil
	}
	return stable(id)
}

// regionFeatures compares where on their pages two elements are said to be.
func regionFeatures(old, now *prepared, v *pairVector) {
	a, b := old.region, now.region
	v[fRegion] = bit(a&b != 0)
	v[fRegionDiffers] = bit(a&apartRegions != 0 && b&apartRegions != 0 && a&b&apartRegions == 0)
	v[fAnchorWords], _ = share(&old.anchor, &now.anchor)
}
