package pages

import (
	"bytes"
	"context"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v5"

	"rankcast/ranking"
	"rankcast/server/access"
	"rankcast/server/internal/entry"
	"rankcast/server/internal/recent"
	"rankcast/server/internal/request"
	"rankcast/server/overview"
	"rankcast/web"
)

// fillTimeout bounds how long a page waits for what it shows first. Tests of what it shows wait longer.
var fillTimeout = time.Second

// maxFilledBytes bounds the filled pages that the node keeps: 500 of ten rows.
const maxFilledBytes = 16 << 20

// maxFixedBytes bounds what the node keeps of the documentation and of pages without rows. All of these fit
// (TestFixedPagesFit). Otherwise a client that asks for one after the other would make the node render each of them again.
const maxFixedBytes = 96 << 20

// fixedAge bounds how long the node keeps a page that never changes.
const fixedAge = 24 * time.Hour

// manifest is the web manifest (https://www.w3.org/TR/appmanifest/). Its path is that of the front page, to which its
// addresses are relative.
const manifest = "manifest.webmanifest"

const (
	overlayPath = "/overlay/:board"
	embedPath   = "/embed/:board"
	consolePath = "/console"
	revealPath  = "/boards/:board/reveal"
	builderPath = "/boards/:board/overlay"
	wallPath    = "/tv/:board"
	wallsPath   = "/tv" // of the boards in the query
)

// pageFile is a page: its path in Echo's form, and its template. All links in a template are relative, so that a proxy
// may serve the site below any prefix: root leads from the path back to the prefix. The page contains its styles, so
// that a browser shows its rows with the first answer.
type pageFile struct {
	path, file, root string
	styles           []string
	fill             func(*filler) // adds what the reader knows
}

var pageFiles = []pageFile{
	{"/", "dashboard.html", "./", dashboardStyles, (*filler).overview},
	{"/boards/:board", "dashboard.html", "../", dashboardStyles, (*filler).boardPage},
	{"/boards/:board/story", "story.html", "../../", []string{faceStyle, "shared/base.css", "shared/portrait.css",
		"shared/columns.css", settingsStyle, "dashboard/board-details.css", "story/story.css", "story/chart.css"}, (*filler).story},
	{"/members/:kind/:member", "member.html", "../../", []string{faceStyle, "shared/base.css", "shared/portrait.css",
		"shared/columns.css", settingsStyle, "member/member.css"}, (*filler).memberPage},
	{overlayPath, "overlay.html", "../", []string{faceStyle, "shared/portrait.css", "shared/first-rows.css",
		"overlay/overlay.css", "overlay/look.css", "overlay/alert.css"}, (*filler).overlay},
	{builderPath, "builder.html", "../../", []string{faceStyle, "shared/base.css", settingsStyle, "builder/builder.css"},
		(*filler).builder},
	{embedPath, "embed.html", "../", []string{faceStyle, "shared/base.css", "shared/portrait.css", "shared/first-rows.css",
		"shared/list-rows.css", "embed/embed.css"}, (*filler).embed},
	{wallPath, "tv.html", "../", wallStyles, (*filler).wall},
	{wallsPath, "tv.html", "./", wallStyles, (*filler).wall},
	{showPath, "show.html", "../", showStyles, (*filler).showPage},
	{starPath, "show.html", "../../", showStyles, (*filler).showPage},
	{consolePath, "console.html", "./", []string{faceStyle, "shared/base.css", settingsStyle, "console/console.css",
		"console/events.css", "console/members.css"}, readsNothing},
	{revealPath, "reveal.html", "../../", []string{faceStyle, "shared/base.css", "shared/portrait.css", settingsStyle,
		"console/console.css", "reveal/host.css"}, readsNothing},
}

// readsNothing fills a page that asks the API for all that it shows.
func readsNothing(*filler) {}

// faceStyle is the style sheet of the face that all pages load (block face of shared.html).
const faceStyle = "shared/face.css"

var wallStyles = []string{faceStyle, "shared/base.css", "shared/portrait.css", "shared/columns.css", "story/chart.css", "tv/tv.css",
	"tv/leader.css", "tv/replay.css"}

var dashboardStyles = []string{
	faceStyle, "shared/base.css", "shared/portrait.css", "shared/columns.css", "shared/first-rows.css", "shared/list-rows.css", settingsStyle,
	"dashboard/dashboard.css", "dashboard/cards.css", "dashboard/overview.css", "dashboard/family.css",
	"dashboard/board-details.css", "dashboard/sparkline.css", "dashboard/score-bars.css", "dashboard/find.css",
	"dashboard/share.css", "dashboard/full-screen.css",
}

var showStyles = []string{
	faceStyle, "shared/base.css", "shared/portrait.css", "shared/columns.css", "shared/first-rows.css", settingsStyle, "show/show.css",
	"show/board-rows.css", "show/gift-feed.css", "show/winners.css", "show/star-details.css", "show/gift-buttons.css", "show/layout.css",
}

// Config configures a Site. The zero value of a field means its default.
type Config struct {
	// Store, Guard, Overviews and Entries know what pages show before their scripts run. Required, like MaxTop.
	Store     *ranking.Store
	Guard     *access.Guard
	Overviews *overview.Reader
	Entries   *entry.Reader
	// MaxTop is the maximum number of entries in a subscription, which bounds the list of a board.
	MaxTop int
	// ReadOnly removes from pages all controls that send scores. Default false.
	ReadOnly bool
	// MayRead returns an error if a request may not cost what the node has not just made. A page then comes without rows,
	// and the error answers a request for a QR code. Required.
	MayRead func(c *echo.Context) error
	// SiteURL returns the address of the root of the site as the client of a request sees it, with a slash at its
	// end; "" if it is not known. CardPath and BoardPath follow after it. Required.
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
	cfg    Config
	reader *reader
	filled *recent.Cache[*asset] // pages that the node has just made: a crowd that opens a page costs one rendering a second
	policy string                // the field Content-Security-Policy of all but pages; see policyOf
}

// content is all that a Site sends. Each part is rendered and compressed when it is first asked for, so
// that a process starts soon. These functions may be called concurrently.
type content struct {
	pages    [][]func() *pageTemplate // by pageFile and locale
	files    map[string]func() *asset // by path
	docs     []docPage
	notFound []func() *pageTemplate // by locale
	fixed    *recent.Cache[*asset]  // pages without rows, and the documentation, by all that they depend on
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

// siteContent is the content of all Sites of a process, but for those that show avatars of other sites.
var siteContent = once(func() (*content, error) { return newContent(web.Files, "") })

// route is a path in Echo's form, with its handler.
type route struct {
	path string
	h    echo.HandlerFunc
}

// New returns the Site of the embedded files.
func New(cfg Config) *Site {
	s := &Site{
		cfg: cfg, reader: &reader{cfg.Store, cfg.Guard, cfg.Overviews, cfg.Entries, cfg.MaxTop},
		filled: recent.New(recent.Age, maxFilledBytes, (*asset).size), policy: policyOf(cfg.AvatarOrigins, nil, "", ""),
	}
	s.content = siteContent()
	if len(cfg.AvatarOrigins) > 0 {
		s.content = once(func() (*content, error) {
			return newContent(web.Files, strings.ToLower(strings.Join(cfg.AvatarOrigins, " ")))
		})()
	}
	s.addPages()
	for name, a := range s.files {
		s.get("/"+name, func(c *echo.Context) error { return a().serve(c) })
	}
	s.get("/qr.svg", s.serveQR)
	s.addDocs()
	return s
}

// otherFiles are files by path. The documents of the contract stand at the root, where a reference of one finds the other.
var otherFiles = map[string]string{"openapi.yaml": "contract/openapi.yaml", "asyncapi.yaml": "contract/asyncapi.yaml",
	manifest: "pages/" + manifest, "docs/search.json": "dist/docs/search.json"}

// newContent prepares the content of a Site whose pages show avatars of these origins, which spaces separate.
func newContent(files fs.FS, avatarOrigins string) (*content, error) {
	c := &content{files: make(map[string]func() *asset), fixed: recent.New(fixedAge, maxFixedBytes, (*asset).size)}
	inEachLocale := func(p pageFile) (all []func() *pageTemplate) {
		for _, l := range locales {
			all = append(all, once(func() (*pageTemplate, error) { return newPageTemplate(files, p, l, avatarOrigins) }))
		}
		return all
	}
	for _, p := range pageFiles {
		c.pages = append(c.pages, inEachLocale(p))
	}
	c.notFound = inEachLocale(notFoundFile)
	dist, err := fs.Sub(files, "dist")
	if err != nil {
		return nil, err
	}
	for _, folder := range []string{"assets", "kit"} {
		if err := addFolder(c.files, dist, folder); err != nil {
			return nil, err
		}
	}
	for path, name := range otherFiles {
		c.files[path] = once(func() (*asset, error) { return newFileAsset(files, name) })
	}
	addStableKit(c.files)
	c.docs, err = newDocs(files)
	return c, err
}

func (s *Site) addPages() {
	for i, p := range pageFiles {
		s.get(p.path, func(c *echo.Context) error { return s.servePage(c, i) })
		if p.path != "/" {
			s.get(p.path+"/*", redirectTrailingSlashes)
		}
	}
	s.get("/boards", func(c *echo.Context) error { return redirectForGood(c, "./") })
	s.get("/boards/", func(c *echo.Context) error { return redirectForGood(c, "../") })
	s.get(firstShowPath, s.serveFirstShow)
	s.get(firstShowPath+"/*", redirectTrailingSlashes)
}

// get adds a path with its handler.
func (s *Site) get(path string, h echo.HandlerFunc) {
	s.routes = append(s.routes, route{path, func(c *echo.Context) error {
		c.Response().Header().Set(policyField, s.policy)
		return h(c)
	}})
}

// servePage answers with a page, filled in with what the reader knows.
func (s *Site) servePage(c *echo.Context, i int) error {
	file, locale := pageFiles[i], localeOf(c.Request())
	if file.path == consolePath || file.path == revealPath {
		locale = 0 // in English, as the answers of the API, which it shows
	}
	t := s.pages[i][locale]()
	var ancestors []string
	styles, frames := t.styleHash, ""
	switch file.path {
	case embedPath:
		ancestors = s.cfg.FrameOrigins
	case overlayPath:
		ancestors = []string{ownOrigin} // the builder shows it
		styles = inlineStyles           // a hash beside it would turn it off
	case builderPath:
		frames = ownOrigin
	}
	c.Response().Header().Set(policyField, policyOf(s.cfg.AvatarOrigins, ancestors, styles, frames))
	whole := context.WithoutCancel(c.Request().Context()) // others wait for the page too
	f := &filler{site: s, query: c.QueryParams(), template: t, tag: t.locale.tag}
	f.page = t.fixed
	f.page.Writes, f.page.Anonymous = !s.cfg.ReadOnly, !s.cfg.ReadOnly
	if t.hasSettings {
		f.page.Settings = settingsOf(c.Request())
	}
	f.address = s.cfg.SiteURL(c.Request())
	if isBoardPage(c) {
		f.board = request.PathValue(c, "board")
	} else if len(c.PathValues()) > 0 {
		f.kind, f.member, f.event = request.PathValue(c, "kind"), request.PathValue(c, "member"), request.PathValue(c, "event")
	}
	if file.path == showPath || file.path == starPath {
		var err error
		if f.show, err = s.reader.show(whole, f.event); err != nil {
			return s.serveMissing(c, missing{Event: f.event}, err)
		}
		if f.show.event == nil { // the page is the same for all such names
			f.event, f.member = "", ""
		}
		f.page.Anonymous = f.page.Writes && f.show.anonymousMaySend
		f.tag = labelTag(c.Request(), t.locale.tag, f.show.labels()...)
	}
	empty := func() (*asset, error) {
		key := optionsOf(i, locale, f.page.Writes, f.page.Anonymous, f.page.Settings)
		return s.fixed.Get(whole, key, func() (*asset, error) { return t.render(f.page) })
	}
	if isBoardPage(c) { // also for an empty name
		if err := s.reader.check(c.Request().Context(), f.board); err != nil {
			return s.serveMissingBoard(c, file.path, empty, err)
		}
	}
	key := f.key(i, locale)
	d, isFresh := s.filled.Fresh(key)
	var err error
	switch {
	case isFresh:
	case s.cfg.MayRead(c) != nil:
		d, err = empty()
	default:
		d, err = s.filled.Get(whole, key, func() (*asset, error) {
			var cancel context.CancelFunc
			f.ctx, cancel = context.WithTimeout(whole, fillTimeout)
			defer cancel()
			file.fill(f)
			d, err := t.render(f.page)
			if err == nil {
				d.isMissing = f.isMissing
			}
			return d, err
		})
	}
	if err != nil {
		return err
	}
	return d.serve(c)
}

// Register calls get for each path of the site, in Echo's form, with the handler for GET and HEAD.
func (s *Site) Register(get func(path string, h echo.HandlerFunc)) {
	for _, r := range s.routes {
		get(r.path, r.h)
	}
}

// redirectTrailingSlashes redirects a page's path with trailing slashes to the page, whose relative links
// would break there. Any other path below a page is unknown.
func redirectTrailingSlashes(c *echo.Context) error {
	if strings.Trim(c.Param("*"), "/") != "" {
		return echo.ErrNotFound
	}
	address := c.Request().URL.EscapedPath()
	page := strings.TrimRight(address, "/")
	return redirectForGood(c, strings.Repeat("../", len(address)-len(page))+path.Base(page))
}

// redirectForGood redirects to a relative path, with the same query.
func redirectForGood(c *echo.Context, to string) error {
	return redirect(c, http.StatusPermanentRedirect, to, c.Request().URL.RawQuery)
}

// redirect redirects to a relative path: the site may be below a prefix. The path starts with a dot, so that no name in it
// can pass for a host.
func redirect(c *echo.Context, status int, to, query string) error {
	if query != "" {
		to += "?" + query
	}
	c.Response().Header().Set("Cache-Control", "no-cache") // browsers would keep a permanent redirect for good
	return c.Redirect(status, to)
}

// renderAsset executes the template of a page, whose text is in one language, and compresses it at a level of gzip.
func renderAsset(t *template.Template, l locale, data any, level int) (*asset, error) {
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, err
	}
	d, err := newAssetAt(level, t.Name(), b.Bytes())
	if err != nil {
		return nil, err
	}
	d.header.Set("Content-Language", l.tag)
	return d, nil
}

// addFolder adds each file of a folder to a map, under its own path without the ".gz" of dist/.
func addFolder(to map[string]func() *asset, files fs.FS, folder string) error {
	return fs.WalkDir(files, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name = strings.TrimSuffix(name, ".gz")
		to[name] = once(func() (*asset, error) { return newFileAsset(files, name) })
		return nil
	})
}

func newFileAsset(files fs.FS, name string) (*asset, error) {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	d, err := newAsset(name, content)
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
