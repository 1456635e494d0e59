package pages

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"rankcast/web"
)

const (
	overlayPath = "/overlay/:board"
	embedPath   = "/embed/:board"
)

// templates are the templates and their paths. All links in them are relative, so that a proxy may serve
// the site below any prefix: root leads from a path back to the prefix.
var templates = []struct{ path, file, root string }{
	{"/", "dashboard.html", "./"},
	{"/boards/:board", "dashboard.html", "../"},
	{overlayPath, "overlay.html", "../"},
	{embedPath, "embed.html", "../"},
	{"/stars", "stars.html", "./"},
}

// Config configures a Site. The zero value of each field means its default.
type Config struct {
	// ReadOnly removes from pages all controls that send scores. Default false.
	ReadOnly bool
	// AnonymousMaySend reports whether a viewer without a token may send what the star-flower page sends.
	// Else the page has controls for viewers with a token only. The Site calls it for each request of a
	// page, concurrently. Default: anybody may.
	AnonymousMaySend func() bool
	// CheckBoard returns an error if there is no board or family of a name. Then the answer to a
	// request for a page of the board is that error, or 404 with a page. CheckBoard must return
	// soon. Default: there is a board of each name.
	CheckBoard func(ctx context.Context, name string) error
	// SiteURL returns the address of the root of the site as the client of a request sees it, with a slash at its
	// end; "" if it is not known. CardPath and BoardPath follow after it. Default: it is never known.
	SiteURL func(r *http.Request) string
	// FrameOrigins are the origins of other sites that may frame the page /embed/{board}; origin.Any stands for
	// all. No site frames another page. Default none.
	FrameOrigins []string
	// AvatarOrigins are the origins of other sites whose images pages may show as avatars. Default none.
	AvatarOrigins []string
}

// Site holds the embedded pages, their scripts and styles, and the kit, ready to send. All methods may be
// called concurrently.
type Site struct {
	*content
	routes []route

	policy, embedPolicy string // the field Content-Security-Policy; see policyOf
}

// senders are who may send scores from pages.
type senders int

const (
	nobodySends  senders = iota
	viewersSend          // those with a token
	anybodySends         // also without a token
	sendersCount
)

// senders returns who may send now.
func (cfg *Config) senders() senders {
	switch {
	case cfg.ReadOnly:
		return nobodySends
	case cfg.AnonymousMaySend == nil || cfg.AnonymousMaySend():
		return anybodySends
	}
	return viewersSend
}

// content is all that a Site sends. Each part is rendered and compressed when it is first asked for, so
// that a process starts soon. These functions may be called concurrently.
type content struct {
	pages    [][]func() *variants     // by template and locale
	files    map[string]func() *asset // by path
	docs     func() *docs
	notFound func() notFoundPage
}

// once returns a function that makes a value when it is first called. It panics if the value cannot be made:
// all files are part of the binary, and TestAllContent makes everything of them.
func once[T any](make func() (T, error)) func() T {
	return sync.OnceValue(func() T {
		v, err := make()
		if err != nil {
			panic(err)
		}
		return v
	})
}

// variants are the variants of a page.
type variants [sendersCount]*asset

// siteContent is the content of all Sites of a process, but for those that show avatars of other sites.
var siteContent = once(func() (*content, error) { return newContent(web.Files, "") })

// route is a path in Echo's form, with its handler.
type route struct {
	path string
	h    echo.HandlerFunc
}

// New returns the Site of the embedded files.
func New(cfg Config) *Site {
	s := &Site{policy: policyOf(cfg.AvatarOrigins, nil), embedPolicy: policyOf(cfg.AvatarOrigins, cfg.FrameOrigins)}
	s.content = siteContent()
	if len(cfg.AvatarOrigins) > 0 {
		s.content = once(func() (*content, error) {
			return newContent(web.Files, strings.ToLower(strings.Join(cfg.AvatarOrigins, " ")))
		})()
	}
	s.addPages(cfg)
	for name, a := range s.files {
		s.get("/"+name, func(c echo.Context) error { return a().serve(c) })
	}
	s.addDocs()
	return s
}

// newContent prepares the content of a Site whose pages show avatars of these origins, which spaces separate.
func newContent(files fs.FS, avatarOrigins string) (*content, error) {
	c := &content{files: make(map[string]func() *asset)}
	for _, p := range templates {
		pages := make([]func() *variants, len(locales))
		for i, l := range locales {
			pages[i] = once(func() (*variants, error) { return renderPage(files, p.file, l, p.root, avatarOrigins) })
		}
		c.pages = append(c.pages, pages)
	}
	for _, folder := range []string{"assets", "kit"} {
		if err := addFolder(c.files, files, folder); err != nil {
			return nil, err
		}
	}
	c.docs = once(func() (*docs, error) { return newDocs(files) })
	c.notFound = once(func() (notFoundPage, error) { return newNotFoundPage(files) })
	return c, nil
}

func (s *Site) addPages(cfg Config) {
	for i, p := range templates {
		s.get(p.path, func(c echo.Context) error {
			d := s.pages[i][localeOf(c.Request())]()[cfg.senders()]
			if err := checkBoard(c, cfg.CheckBoard); err != nil {
				return s.serveMissingBoard(c, p.path, d, err)
			}
			return d.serve(c)
		})
		if p.path != "/" {
			s.get(p.path+"/*", redirectTrailingSlashes)
		}
	}
	s.get("/boards", func(c echo.Context) error { return redirect(c, "./") })
	s.get("/boards/", func(c echo.Context) error { return redirect(c, "../") })
}

// get adds a path with its handler, whose answers have the policy of the path.
func (s *Site) get(path string, h echo.HandlerFunc) {
	policy := s.policy
	if path == embedPath {
		policy = s.embedPolicy
	}
	s.routes = append(s.routes, route{path, func(c echo.Context) error {
		c.Response().Header().Set(policyField, policy)
		return h(c)
	}})
}

// Register calls get for each path of the site, in Echo's form, with the handler for GET and HEAD.
func (s *Site) Register(get func(path string, h echo.HandlerFunc)) {
	for _, r := range s.routes {
		get(r.path, r.h)
	}
}

// redirectTrailingSlashes redirects a page's path with trailing slashes to the page, whose relative links
// would break there. Any other path below a page is unknown.
func redirectTrailingSlashes(c echo.Context) error {
	if strings.Trim(c.Param("*"), "/") != "" {
		return echo.ErrNotFound
	}
	address := c.Request().URL.EscapedPath()
	page := strings.TrimRight(address, "/")
	return redirect(c, strings.Repeat("../", len(address)-len(page))+path.Base(page))
}

// redirect redirects to a relative path, with the same query: the site may be below a prefix. The path
// starts with a dot, so that no name in it can pass for a host.
func redirect(c echo.Context, to string) error {
	if query := c.Request().URL.RawQuery; query != "" {
		to += "?" + query
	}
	c.Response().Header().Set("Cache-Control", "no-cache") // browsers would keep the redirect for good
	return c.Redirect(http.StatusPermanentRedirect, to)
}

// page is the data of a template; see package web.
type page struct {
	Lang, LangTag string
	Root, Home    string
	Writes        bool // somebody may send scores
	Anonymous     bool // also without a token
	Texts         map[string]string
	Preloads      []string
	AvatarOrigins string // of other sites, see Config
	Board         string // the board that does not exist
}

// parsePage parses the template of a page in one language, and reads that language's texts. Executing the
// template fails if the page uses an unknown text.
func parsePage(files fs.FS, file string, l locale) (*template.Template, map[string]string, error) {
	texts, err := l.readTexts(files)
	if err != nil {
		return nil, nil, err
	}
	text := func(key string) (string, error) {
		if text, there := texts[key]; there {
			return text, nil
		}
		return "", fmt.Errorf("texts/%s.json has no %q", l.name, key)
	}
	t, err := template.New(file).Funcs(template.FuncMap{"text": text}).ParseFS(files, "pages/"+file, "pages/shared.html")
	return t, texts, err
}

// renderPage renders the variants of a page in one language.
func renderPage(files fs.FS, file string, l locale, root, avatarOrigins string) (*variants, error) {
	t, texts, err := parsePage(files, file, l)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(file, ".html")
	preloads, err := preloadsOf(files, path.Join("assets", name, name+".js"), root)
	if err != nil {
		return nil, err
	}
	v := new(variants)
	for who := range v {
		v[who], err = renderAsset(t, l, page{
			Lang: l.name, LangTag: l.tag, Root: root, Home: root, Texts: texts, Preloads: preloads,
			Writes: senders(who) != nobodySends, Anonymous: senders(who) == anybodySends, AvatarOrigins: avatarOrigins,
		})
		if err != nil {
			return nil, err
		}
		v[who].addVary("Accept-Language")
	}
	return v, nil
}

// renderAsset executes the template of a page, whose text is in one language.
func renderAsset(t *template.Template, l locale, data any) (*asset, error) {
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, err
	}
	d, err := newAsset(t.Name(), b.Bytes())
	if err != nil {
		return nil, err
	}
	d.header.Set("Content-Language", l.tag)
	return d, nil
}

// addFolder adds each file of a folder to a map, under its own path.
func addFolder(to map[string]func() *asset, files fs.FS, folder string) error {
	return fs.WalkDir(files, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		to[name] = once(func() (*asset, error) { return newFileAsset(files, name) })
		return nil
	})
}

func newFileAsset(files fs.FS, name string) (*asset, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	d, err := newAsset(name, text)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(name, "kit/") {
		// The kit is for pages of other sites.
		d.header.Set("Access-Control-Allow-Origin", "*")
		d.header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	return d, nil
}
