package pages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v5"
)

// contentTypes are the content types by file extension. The machine's own table could be wrong, and
// browsers refuse a module of another type.
var contentTypes = map[string]string{
	".html":        "text/html; charset=utf-8",
	".css":         "text/css; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".ts":          "text/plain; charset=utf-8", // TypeScript declarations, for people and editors
	".txt":         "text/plain; charset=utf-8",
	".md":          "text/markdown; charset=utf-8",
	".json":        "application/json",
	".yaml":        "application/yaml", // RFC 9512
	".webmanifest": "application/manifest+json",
	".svg":         "image/svg+xml",
	".png":         "image/png",
	".webp":        "image/webp",
	".woff2":       "font/woff2",
}

// asset is a file as the server sends it, plain and compressed. It is the same for all clients.
type asset struct {
	header           http.Header // of every answer
	identity, gzip   []byte      // gzip is nil if it is not smaller
	etag, etagOfGzip string
	isMissing        bool // a page about what does not exist: the status is 404
}

// filledLevel is the level of compression of a page that the node makes for one second. The page is 16 % larger than with
// gzip.BestCompression. That level takes 2.7 times as long, and hundreds of times as long for a page with many equal rows.
const filledLevel = gzip.BestSpeed

// newAsset makes an asset that many requests get. The extension of its name determines its content type.
func newAsset(name string, content []byte) (*asset, error) {
	return newAssetAt(gzip.BestCompression, name, content)
}

// newAssetAt is newAsset with a level of compression.
func newAssetAt(level int, name string, content []byte) (*asset, error) {
	kind, known := contentTypes[path.Ext(name)]
	if !known {
		return nil, fmt.Errorf("%s: the extension %q has no content type", name, path.Ext(name))
	}
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:8])
	d := &asset{identity: content, etag: `"` + hash + `"`, etagOfGzip: `"` + hash + `-gzip"`}
	d.header = newHeader(kind)
	if kind == contentTypes[".woff2"] {
		d.header.Set("Cache-Control", faceCaching)
	}
	if strings.HasPrefix(kind, "text/") || kind == "application/json" || kind == "application/yaml" || kind == "image/svg+xml" {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, level)
		if err != nil {
			return nil, err
		}
		w.Write(content) // a buffer returns no error
		w.Close()
		if b.Len() < len(content) {
			d.gzip = b.Bytes()
			d.addVary("Accept-Encoding")
		}
	}
	return d, nil
}

// faceCaching is the Cache-Control of fonts: a browser shows the font that it has, and asks for a newer one meanwhile. A
// page does not wait for its face (face.css), so with a question first, a slow line would never show it.
const faceCaching = "max-age=86400, stale-while-revalidate=31536000"

// newHeader is the header of an answer for browsers, without its policy: that depends on the path.
func newHeader(kind string) http.Header {
	return http.Header{
		"Content-Type":           {kind},
		"X-Content-Type-Options": {"nosniff"},
		"Referrer-Policy":        {"no-referrer"},
		// Browsers revalidate each time, by ETag: the names of files carry no version.
		"Cache-Control": {"no-cache"},
	}
}

// size is the memory that the content of the asset takes, in bytes.
func (d *asset) size() int { return cap(d.identity) + cap(d.gzip) }

// addVary adds a header's name to Vary.
func (d *asset) addVary(header string) {
	names := header
	if others := d.header.Get("Vary"); others != "" {
		names += ", " + others
	}
	d.header.Set("Vary", names)
}

func (d *asset) serve(c *echo.Context) error {
	if d.isMissing {
		return d.serveNotFound(c)
	}
	h, r := c.Response().Header(), c.Request()
	maps.Copy(h, d.header)
	if d.gzip != nil && acceptsGzip(r.Header.Values("Accept-Encoding")) {
		return d.serveGzip(c)
	}
	h.Set("ETag", d.etag)
	http.ServeContent(c.Response(), r, "", time.Time{}, bytes.NewReader(d.identity))
	return nil
}

// serveNotFound answers 404 with the asset, to a request for something that does not exist. The answer
// has no entity tag: a 404 is never "not modified".
func (d *asset) serveNotFound(c *echo.Context) error {
	h, body := c.Response().Header(), d.identity
	maps.Copy(h, d.header)
	h.Set("Vary", "Accept, "+d.header.Get("Vary"))
	if d.gzip != nil && acceptsGzip(c.Request().Header.Values("Accept-Encoding")) {
		body = d.gzip
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	return c.Blob(http.StatusNotFound, h.Get("Content-Type"), body)
}

// serveGzip answers with the whole compressed form, also to a range request: a range would be one of
// compressed bytes.
func (d *asset) serveGzip(c *echo.Context) error {
	h := c.Response().Header()
	h.Set("ETag", d.etagOfGzip)
	if etagMatches(c.Request().Header.Values("If-None-Match"), d.etagOfGzip) {
		h.Del("Content-Type")
		return c.NoContent(http.StatusNotModified)
	}
	h.Set("Content-Encoding", "gzip")
	h.Set("Content-Length", strconv.Itoa(len(d.gzip)))
	return c.Blob(http.StatusOK, h.Get("Content-Type"), d.gzip)
}

// etagMatches reports whether If-None-Match names an entity tag, by the weak comparison of RFC 9110,
// 8.8.3.2. It may split at commas: no tag of this server holds one.
func etagMatches(ifNoneMatch []string, etag string) bool {
	for tag := range strings.SplitSeq(strings.Join(ifNoneMatch, ","), ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}

// acceptsGzip reports whether Accept-Encoding allows gzip (RFC 9110, 12.5.3): with a weight above 0, by
// its own name or else by "*".
func acceptsGzip(acceptEncoding []string) bool {
	any := false
	for coding := range strings.SplitSeq(strings.ToLower(strings.Join(acceptEncoding, ",")), ",") {
		name, params, _ := strings.Cut(coding, ";")
		switch strings.TrimSpace(name) {
		case "gzip", "x-gzip":
			return qvalue(params) > 0
		case "*":
			any = qvalue(params) > 0
		}
	}
	return any
}

// qvalue returns the weight q among parameters: 1 without q, 0 for an invalid one.
func qvalue(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		if name, value, _ := strings.Cut(p, "="); strings.TrimSpace(name) == "q" {
			q, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return q
		}
	}
	return 1
}
