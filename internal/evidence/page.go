package evidence

import (
	"encoding/json"
	"fmt"

	"tas-service/internal/relocate"
)

// maxPage bounds what is read as a page, in bytes.
const maxPage = 4 << 20

// ReadPage reads the elements of a page that was written in the form of a trace's snapshots:
// [tag, {attributes}, children…]. testIDs is the attribute that getByTestId looks at. A stranger
// wrote it: what is out of bounds, or refers to another snapshot, is an error.
func ReadPage(text, testIDs string) ([]relocate.Element, error) {
	if len(text) > maxPage {
		return nil, fmt.Errorf("%w: it has %d bytes", errSnapshot, len(text))
	}
	root := &node{}
	if err := json.Unmarshal([]byte(text), root); err != nil {
		return nil, fmt.Errorf("%w: %w", errSnapshot, err)
	}
	if root.tag == "" {
		return nil, fmt.Errorf("%w: it begins with no element", errSnapshot)
	}
	all := frames{}
	all.add(&snapshot{html: root})
	page, whole := all.page(all[""][0])
	if !whole {
		return nil, fmt.Errorf("%w: it is too large, or not whole", errSnapshot)
	}
	out, _, _ := elements(page, testIDs, nil)
	return out, nil
}
