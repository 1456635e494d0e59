package pages

import (
	"fmt"
	"image/color"
	"net/url"
	"strings"

	"github.com/boombuler/barcode/qr"
	"github.com/labstack/echo/v5"

	"rankcast/ranking/definition"
)

const (
	// maxQRText bounds the text of a QR code, in bytes. A camera reads a larger code from a screen with difficulty.
	maxQRText = 512
	// quietZone is the margin of a QR code, in modules (ISO/IEC 18004, 5.3.8).
	quietZone = 4
)

// serveQR answers the address of a page as a QR code, in SVG. The page passes its own address: only the browser knows the
// scheme and the path by which it reached the server. The host is that of the request: the server makes no codes for
// other sites.
func (s *Site) serveQR(c *echo.Context) error {
	text := c.QueryParam("text")
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return definition.Invalid("text", "is no address of a page")
	}
	if !strings.EqualFold(u.Host, c.Request().Host) {
		return definition.Invalid("text", fmt.Sprintf("is an address of another host; want %q", c.Request().Host))
	}
	if len(text) > maxQRText {
		return definition.Invalid("text", fmt.Sprintf("has %d bytes; want at most %d", len(text), maxQRText))
	}
	if err := s.cfg.MayRead(c); err != nil {
		return err
	}
	svg, err := newQR(text)
	if err != nil {
		return err
	}
	d, err := newAssetAt(filledLevel, "qr.svg", svg)
	if err != nil {
		return err
	}
	return d.serve(c)
}

// newQR draws a text of at most maxQRText bytes as a QR code, black on white.
func newQR(text string) ([]byte, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return nil, fmt.Errorf("encode a QR code: %w", err)
	}
	modules := code.Bounds().Dx()
	var path strings.Builder
	for y := range modules {
		for x := range modules {
			if code.At(x, y) == color.Black {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x+quietZone, y+quietZone)
			}
		}
	}
	size := modules + 2*quietZone
	return fmt.Appendf(nil,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges"><path fill="#fff" d="M0 `+
			`0h%dv%dH0z"/><path d="%s"/></svg>`,
		size, size, size, size, path.String()), nil
}
