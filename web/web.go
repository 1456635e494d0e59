// Package web holds the files that browsers load: the server's own pages with their
// assets and texts, and the kit for pages of other sites. The binary holds pages/, texts/, contract/ and dist/.
//
//   - dist/ is made of assets/, kit/ and docs/ by `go generate ./web`, see generate/, and is part of the repository, so
//     that the binary holds files and no tools. Each file is compressed: NAME.gz. After a change of one of these files,
//     run that too: a test says when dist/ is not current. dist/assets/ and dist/kit/ have the files of the same names
//     as browsers load them; dist/docs/ has the body of each page of the documentation, the list of the pages in the order of the menu, and
//     the index of the search.
//   - pages/ holds the web manifest and templates of html/template: dashboard.html, story.html, member.html, overlay.html, embed.html,
//     show.html, tv.html, builder.html, console.html, reveal.html, missing.html (the answer to a path without a page) and shared.html
//     (blocks that the others use). A template gets .Lang ("en" or "zh") and .LangTag for <html lang>;
//     .Root, a relative path to the server's root, and .Home, the path of the dashboard;
//     and {{text "key"}}; and, but in a frame, an overlay or a wall, .Settings (what the reader has chosen
//     in the menu of settings). missing.html also gets .Board, the name of a board that does not
//     exist, or "". Pages with data also get .Writes (whether sockets may send
//     updates), .AvatarOrigins (those of other sites whose images the page may show), .Texts (the
//     texts of the language, as JSON; those of the builder in its page alone), .Style (all style sheets of the page)
//     and .First: what the page shows before its script runs, or nil. Package server/pages documents its fields.
//   - docs/ holds the documentation, in Markdown and in English only. The first line of a
//     file is its title. The test of the examples, TestDocs in cmd/rankcast/e2e/docs, lists the
//     words that may follow the language of a block of code. The template of all its pages is
//     pages/docs.html. It gets no .Writes and no .Texts, but the .Title and .Body of the page,
//     its .Contents, the .Menu of all pages, and .Previous and .Next.
//   - contract/ holds the contract of the server for programs: openapi.yaml for HTTP and asyncapi.yaml for sockets and
//     event streams. The pages http-reference.md and live-reference.md of docs/ are made from it (make reference).
//   - texts/ holds the texts, a JSON file for each language. A text may have
//     {placeholders}; a text with a number has a key for each plural form, members_one and
//     members_other. All languages have the same keys.
//   - assets/ holds the scripts and styles of the pages: shared/ what several pages use,
//     and builder/, console/, dashboard/, docs/, embed/, member/, missing/, overlay/, reveal/, show/, story/ and tv/ what one page uses;
//     builder/ uses the options of overlay/, reveal/ what console/ has for operators, and tv/ the chart of story/. The script of a page is
//     assets/PAGE/PAGE.js; it imports the page's other modules, and those the shared ones
//     and the kit. console.js loads the module of a view, such as boards.js, when the operator opens the view. The texts of
//     the console and of reveal/ are in English only, so they stand in their modules.
//   - kit/ holds the modules that show a board on any page. rankcast.d.ts documents them. package.json and
//     README.md belong to the npm package, which `make kit` packs.
//
// In the kit, imports run one way: rankcast.js (the page's import, and the element
// <live-leaderboard>) → connection.js (the sockets of a page) → subscription.js (one board) →
// socket.js (a WebSocket that reconnects). The element consists of rows.js (the list), row.js,
// items.js (which rows there are) and style.css; dom.js, portrait.js and format.js serve all of these. A frame goes the other
// way: socket.js → connection.js → subscription.js → rankcast.js → rows.js → row.js.
//
// What not every board needs are further files, which load.js loads. on-demand.js holds show.js (what happens on the board of an
// element: moves.js, moments.js, announcer.js, finish.js and show.css), credentials.js (the tokens of a connection, with
// authentication.js and claims.js), search.js (finds members by HTTP) and token-request.js (tokens for the element). columns.js
// shows the scores of columns, with columns.css and column-texts.js. goal.js shows how far the followed member is from its goals, with
// goals.js and goal.css. reveal.js shows what is revealed on a frozen board, with steps.js and reveal.css. They get what they have of
// the first file through shared.js.
//
// Scripts are ES modules that run as they are. generate joins the kit, and the script of each page, with the modules that it
// imports, and removes comments and spaces. All paths between files are relative, so that a proxy may serve them below a
// prefix.
package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
)

//go:generate go run ./generate
//go:embed pages texts contract/*.yaml dist
var embedded embed.FS

// Files holds pages/, texts/, contract/ and dist/. It is read-only and safe for concurrent use.
var Files = fileSystem{embedded}

type fileSystem struct{ embed.FS }

// ReadFile implements fs.ReadFileFS. It decompresses a file of dist/, whose name does not end in ".gz" then.
func (f fileSystem) ReadFile(name string) ([]byte, error) {
	packed, err := f.FS.ReadFile(name + ".gz")
	if err != nil {
		return f.FS.ReadFile(name)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
