package pages_test

import (
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// A reader of QR codes that others made reads the address back from the picture.
func TestQRCodesHoldTheAddressOfThePage(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, boards...)
	longest := "https://" + n.Addr + "/"
	longest += strings.Repeat("x", 512-len(longest))
	for _, address := range []string{
		"http://" + n.Addr + "/boards/stars", "https://" + n.Addr + "/live/boards/fans:s17@2026-W46?top=25&me=%E6%98%9F&lang=zh", longest,
	} {
		a := n.Do("GET", "/qr.svg?text="+url.QueryEscape(address), "")
		require.Equal(t, 200, a.Status, a.Body)
		require.Equal(t, "image/svg+xml", a.Header.Get("Content-Type"))
		require.Contains(t, a.Header.Get("Content-Security-Policy"), "default-src 'none'")
		bitmap, err := gozxing.NewBinaryBitmapFromImage(drawQR(t, a.Body))
		require.NoError(t, err)
		read, err := qrcode.NewQRCodeReader().Decode(bitmap, map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_PURE_BARCODE: true})
		require.NoError(t, err, address)
		require.Equal(t, address, read.GetText())
	}
	for _, text := range []string{"", "stars", "javascript:alert(1)", "https:", longest + "x", "https://a.example/",
		"https://" + n.Addr + "@a.example/"} {
		servertest.RequireProblem(t, n.Do("GET", "/qr.svg?text="+url.QueryEscape(text), ""), 400, "invalid_request", "text")
	}
}

// drawQR draws the modules of a QR code, four pixels for each.
func drawQR(t *testing.T, svg string) image.Image {
	t.Helper()
	const scale = 4
	var picture struct {
		ViewBox string `xml:"viewBox,attr"`
		Paths   []struct {
			D string `xml:"d,attr"`
		} `xml:"path"`
	}
	require.NoError(t, xml.Unmarshal([]byte(svg), &picture))
	var size int
	_, err := fmt.Sscanf(picture.ViewBox, "0 0 %d", &size)
	require.NoError(t, err)
	drawn := image.NewGray(image.Rect(0, 0, scale*size, scale*size))
	draw.Draw(drawn, drawn.Bounds(), image.White, image.Point{}, draw.Src)
	for _, module := range regexp.MustCompile(`M(\d+) (\d+)h1v1h-1z`).FindAllStringSubmatch(picture.Paths[1].D, -1) {
		var x, y int
		_, err := fmt.Sscan(module[1]+" "+module[2], &x, &y)
		require.NoError(t, err)
		draw.Draw(drawn, image.Rect(scale*x, scale*y, scale*x+scale, scale*y+scale), image.NewUniform(color.Black), image.Point{}, draw.Src)
	}
	return drawn
}
