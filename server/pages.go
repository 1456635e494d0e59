package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"time"

	"github.com/labstack/echo/v4"

	"rankcast/web"
)

// policy keeps pages to what this server gives them.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// servePages serves the embedded pages and what they load.
func servePages(get func(path string, h echo.HandlerFunc)) {
	get("/", page("index.html"))
	err := fs.WalkDir(web.Files, "assets", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			get("/"+name, page(name))
		}
		return err
	})
	if err != nil {
		panic(err) // the files are part of the binary
	}
}

// page serves one embedded file. Browsers ask each time and load it only when it
// is another: files carry no version in their names.
func page(name string) echo.HandlerFunc {
	content, err := web.Files.ReadFile(name)
	if err != nil {
		panic(err) // likewise
	}
	sum := sha256.Sum256(content)
	etag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", etag)
		http.ServeContent(c.Response(), c.Request(), path.Base(name), time.Time{}, bytes.NewReader(content))
		return nil
	}
}
