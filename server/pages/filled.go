package pages

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// filledAge is how long the node answers from one filled page, so that a crowd that opens a page costs one
	// read and one rendering a second.
	filledAge = time.Second
	// maxFilledBytes bounds the filled pages that the node keeps: 500 of ten rows.
	maxFilledBytes = 16 << 20
)

// filledKey names a filled page: all that it depends on but the boards.
type filledKey struct {
	page, locale int
	may          senders
	site         string // its own address
	version      uint64 // of the access file
	board        string
	options      string // of the URL, such as its language
}

// filledPages keeps pages for filledAge. The zero value is empty. get may be called concurrently.
type filledPages struct {
	filling singleflight.Group

	mu    sync.Mutex
	kept  map[filledKey]filledPage
	bytes int // of kept
}

type filledPage struct {
	*asset
	at time.Time
}

// get returns the page of a key that is younger than filledAge, or makes it. Callers of one time share it.
func (f *filledPages) get(key filledKey, make func() (*asset, error)) (*asset, error) {
	if d := f.fresh(key); d != nil {
		return d, nil
	}
	made, err, _ := f.filling.Do(key.String(), func() (any, error) {
		if d := f.fresh(key); d != nil { // another request has made it since
			return d, nil
		}
		began := time.Now()
		d, err := make()
		if err == nil {
			f.keep(key, d, began)
		}
		return d, err
	})
	if err != nil {
		return nil, err
	}
	return made.(*asset), nil
}

func (f *filledPages) fresh(key filledKey) *asset {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, ok := f.kept[key]; ok && time.Since(p.at) < filledAge {
		return p.asset
	}
	return nil
}

func (f *filledPages) keep(key filledKey, d *asset, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for k, p := range f.kept {
		if time.Since(p.at) >= filledAge || k == key {
			delete(f.kept, k)
			f.bytes -= p.size()
		}
	}
	if f.kept == nil || f.bytes+d.size() > maxFilledBytes {
		f.kept, f.bytes = make(map[filledKey]filledPage), 0
	}
	f.kept[key] = filledPage{d, at}
	f.bytes += d.size()
}

// String tells keys apart.
func (k filledKey) String() string {
	return fmt.Sprintf("%d %d %d %d %q %q %q", k.page, k.locale, k.may, k.version, k.site, k.board, k.options)
}
