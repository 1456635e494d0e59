package pages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/js"
)

// contentTypes are by the end of a name. The machine's own table is not asked: a browser
// takes a module of the right type alone.
var contentTypes = map[string]string{
	".html":  "text/html; charset=utf-8",
	".css":   "text/css; charset=utf-8",
	".js":    "text/javascript; charset=utf-8",
	".ts":    "text/plain; charset=utf-8", // declarations, for people and editors
	".md":    "text/markdown; charset=utf-8",
	".json":  "application/json",
	".svg":   "image/svg+xml",
	".png":   "image/png",
	".webp":  "image/webp",
	".woff2": "font/woff2",
}

// asset is what is served under a path, the same to everybody, in two forms.
type asset struct {
	header           http.Header // of every answer
	identity, gzip   []byte      // gzip is nil where it would not be smaller
	etag, etagOfGzip string
}

// minifier takes what is for people alone out of scripts and styles.
func minifier() *minify.M {
	m := minify.New()
	m.Add("text/javascript", &js.Minifier{})
	m.Add("text/css", &css.Minifier{})
	return m
}

// newAsset makes a document of the kind that its name says. Making it small once,
// at start, may take what time it likes.
func newAsset(name string, content []byte) (*asset, error) {
	kind, known := contentTypes[path.Ext(name)]
	if !known {
		return nil, fmt.Errorf("%s: files that end in %q have no content type", name, path.Ext(name))
	}
	content, err := minifier().Bytes(strings.TrimSuffix(kind, "; charset=utf-8"), content)
	if err != nil && !errors.Is(err, minify.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:8])
	d := &asset{identity: content, etag: `"` + hash + `"`, etagOfGzip: `"` + hash + `-gzip"`}
	d.header = headerOf(kind)
	if strings.HasPrefix(kind, "text/") || kind == "application/json" || kind == "image/svg+xml" {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			return nil, err
		}
		w.Write(content) // a buffer takes all
		w.Close()
		if b.Len() < len(content) {
			d.gzip = b.Bytes()
			d.varyBy("Accept-Encoding")
		}
	}
	return d, nil
}

// headerOf is the header of what is for browsers, of a content type.
func headerOf(kind string) http.Header {
	return http.Header{
		"Content-Type":            {kind},
		"Content-Security-Policy": {policy},
		"X-Content-Type-Options":  {"nosniff"},
		"Referrer-Policy":         {"no-referrer"},
		// Browsers ask each time and load it only when it is another: files carry no version
		// in their names.
		"Cache-Control": {"no-cache"},
	}
}

// varyBy has caches keep an answer for one value of a request's header alone.
func (d *asset) varyBy(header string) {
	names := header
	if others := d.header.Get("Vary"); others != "" {
		names += ", " + others
	}
	d.header.Set("Vary", names)
}

func (d *asset) serve(c echo.Context) error {
	h, r := c.Response().Header(), c.Request()
	maps.Copy(h, d.header)
	if d.gzip != nil && acceptsGzip(r.Header.Values("Accept-Encoding")) {
		return d.serveGzip(c)
	}
	h.Set("ETag", d.etag)
	http.ServeContent(c.Response(), r, "", time.Time{}, bytes.NewReader(d.identity))
	return nil
}

// serveGzip answers with the compressed form, always with the whole of it: a range would be
// one of compressed bytes, which nobody has a use for.
func (d *asset) serveGzip(c echo.Context) error {
	h := c.Response().Header()
	h.Set("ETag", d.etagOfGzip)
	if matches(c.Request().Header.Values("If-None-Match"), d.etagOfGzip) {
		h.Del("Content-Type")
		return c.NoContent(http.StatusNotModified)
	}
	h.Set("Content-Encoding", "gzip")
	h.Set("Content-Length", strconv.Itoa(len(d.gzip)))
	return c.Blob(http.StatusOK, h.Get("Content-Type"), d.gzip)
}

// matches reports whether If-None-Match names an entity tag, by the weak comparison of
// RFC 9110, 8.8.3.2. No tag of ours holds a comma.
func matches(ifNoneMatch []string, etag string) bool {
	for tag := range strings.SplitSeq(strings.Join(ifNoneMatch, ","), ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}

// acceptsGzip reports whether Accept-Encoding allows gzip, as RFC 9110, 12.5.3 has it: with
// a weight above 0, by its own name or else by "*".
func acceptsGzip(acceptEncoding []string) bool {
	any := false
	for coding := range strings.SplitSeq(strings.ToLower(strings.Join(acceptEncoding, ",")), ",") {
		name, params, _ := strings.Cut(coding, ";")
		switch strings.TrimSpace(name) {
		case "gzip", "x-gzip":
			return weight(params) > 0
		case "*":
			any = weight(params) > 0
		}
	}
	return any
}

// weight is the q among parameters; 1 where there is none, 0 where it is no number.
func weight(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		if name, value, _ := strings.Cut(p, "="); strings.TrimSpace(name) == "q" {
			q, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return q
		}
	}
	return 1
}
