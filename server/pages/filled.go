package pages

import (
	"fmt"

	"rankcast/server/internal/recent"
)

// maxFilledBytes bounds the filled pages that the node keeps: 500 of ten rows.
const maxFilledBytes = 16 << 20

// newFilledPages keeps pages that the node has just made, so that a crowd that opens a page costs one read and one
// rendering a second.
func newFilledPages() *recent.Cache[*asset] { return recent.New(maxFilledBytes, (*asset).size) }

// filledKey names a filled page: all that it depends on but the boards.
type filledKey struct {
	page, locale int
	may          senders
	site         string // its own address
	version      uint64 // of the access file
	board        string
	options      string // of the URL, such as its language
}

// String tells keys apart.
func (k filledKey) String() string {
	return fmt.Sprintf("%d %d %d %d %q %q %q", k.page, k.locale, k.may, k.version, k.site, k.board, k.options)
}
