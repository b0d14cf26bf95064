package relocate

import "math"

// The features of a pair. Each is in [0, 1]. Where one side does not know a property, its
// similarity is 0 and a feature of its own says so: missing is not different.
const (
	fLabelEqual = iota
	fLabelRare
	fLabelWords
	fLabelContained
	fLabelGrams
	fLabelMissing
	fLabelNone
	fWords
	fWordsContained
	fTag
	fKind
	fKindConflict
	fIDEqual
	fIDWords
	fIDMissing
	fNameEqual
	fNameDiffers
	fClass
	fClassWords
	fClassMissing
	fHrefEqual
	fHrefTail
	fHrefDiffers
	fHrefMissing
	fType
	fTypeDiffers
	fAux
	fPathEqual
	fPathSequence
	fPathEnd
	fPathEndTags
	fPathIndex
	fPathStart
	fAnchored
	fAnchorWords
	fRegion
	fRegionDiffers
	fDepth
	fNear
	fNearMissing
	fPlace
	fPlaceX
	fSize
	fShape
	fNoBox
	pairFeatureCount
)

// featureNames are what the file of weights and the explanations call the features.
func featureNames() [pairFeatureCount]string {
	return [...]string{
		"label-equal", "label-rare", "label-words", "label-contained", "label-letters", "label-missing", "label-none",
		"words", "words-contained", "tag", "kind", "kind-conflict", "id-equal", "id-words", "id-missing",
		"name-equal", "name-differs", "class", "class-words", "class-missing", "href-equal", "href-tail", "href-differs", "href-missing",
		"type", "type-differs", "attributes", "path-equal", "path-sequence", "path-end", "path-end-tags", "path-index", "path-start", "anchored", "anchor-words", "region", "region-differs", "depth",
		"near", "near-missing", "place", "place-x", "size", "shape", "no-box",
	}
}

type pairVector [pairFeatureCount]float64

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// ratio answers how near two sizes are: 1 for equal ones.
func ratio(a, b float64) float64 {
	if a <= 0 || b <= 0 {
		return bit(a == b)
	}
	return min(a, b) / max(a, b)
}

// pairFeatures compares an element of the old page with one of the new.
func pairFeatures(old, now *prepared, oldPage, newPage *Page, v *pairVector) {
	*v = pairVector{}
	switch {
	case old.label != "" && now.label != "":
		v[fLabelWords], v[fLabelContained] = share(&old.text, &now.text)
		v[fLabelGrams] = dice(old.grams, now.grams)
		if old.labelHash == now.labelHash {
			v[fLabelEqual] = 1
			v[fLabelRare] = 1 / float64(max(newPage.labels[now.labelHash], 1))
		}
	case old.label == "" && now.label == "":
		v[fLabelNone] = 1
	default:
		v[fLabelMissing] = 1
	}
	v[fWords], v[fWordsContained] = share(&old.all, &now.all)
	v[fTag] = bit(old.tag == now.tag)
	v[fKind] = bit(old.kind == now.kind)
	v[fKindConflict] = bit(old.kind == field && (now.kind == press || now.kind == heading) || now.kind == field && (old.kind == press || old.kind == heading))
	oldID, newID := old.ID, now.ID
	if old.TestID != "" && now.TestID != "" {
		oldID, newID = old.TestID, now.TestID
	}
	switch {
	case oldID != "" && newID != "":
		v[fIDEqual] = bit(oldID == newID)
		v[fIDWords], _ = share(&old.idWords, &now.idWords)
	case oldID != newID:
		v[fIDMissing] = 1
	}
	if old.NameAttr != "" && now.NameAttr != "" {
		v[fNameEqual] = bit(old.NameAttr == now.NameAttr)
		v[fNameDiffers] = 1 - v[fNameEqual]
	}
	if (old.Class == "") != (now.Class == "") {
		v[fClassMissing] = 1
	} else if old.Class != "" {
		v[fClass], _ = share(&old.classes, &now.classes)
		v[fClassWords], _ = share(&old.classWord, &now.classWord)
	}
	switch {
	case old.href != "" && now.href != "":
		v[fHrefEqual] = bit(old.href == now.href)
		v[fHrefTail], _ = share(&old.hrefTail, &now.hrefTail)
		v[fHrefDiffers] = bit(v[fHrefTail] == 0 && v[fHrefEqual] == 0)
	case old.href != now.href:
		v[fHrefMissing] = 1
	}
	if old.Type != "" && now.Type != "" {
		v[fType] = bit(old.Type == now.Type)
		v[fTypeDiffers] = 1 - v[fType]
	}
	v[fAux], _ = share(&old.aux, &now.aux)
	pathFeatures(old, now, v)
	regionFeatures(old, now, v)
	if (len(old.near.bag) == 0) != (len(now.near.bag) == 0) {
		v[fNearMissing] = 1
	} else {
		v[fNear], _ = share(&old.near, &now.near)
	}
	a, b := old.Box, now.Box
	if a == nil || b == nil {
		v[fNoBox] = 1
		return
	}
	dx, dy := a.X-b.X, a.Y-b.Y
	v[fPlace] = math.Exp(-math.Hypot(dx, dy) / 200)
	v[fPlaceX] = math.Exp(-math.Abs(dx) / 100)
	v[fSize] = ratio(a.Width*a.Height, b.Width*b.Height)
	v[fShape] = ratio(a.Width*max(b.Height, 1), b.Width*max(a.Height, 1))
}

func pathFeatures(old, now *prepared, v *pairVector) {
	a, b := old.steps, now.steps
	if len(a) == 0 || len(b) == 0 {
		return
	}
	v[fPathEqual] = bit(len(a) == len(b) && under(a, b))
	v[fPathSequence] = sequence(a, b)
	v[fPathEnd] = float64(ending(a, b, 4, false)) / 4
	v[fPathEndTags] = float64(ending(a, b, 6, true)) / 6
	v[fPathIndex] = bit(a[len(a)-1].index == b[len(b)-1].index)
	v[fPathStart] = float64(common(a, b)) / float64(max(len(a), len(b)))
	v[fAnchored] = bit(old.Anchored != "" && old.Anchored == now.Anchored)
	v[fDepth] = ratio(float64(len(a)), float64(len(b)))
}
