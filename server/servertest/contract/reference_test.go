//go:build !race

package contract

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

var update = flag.Bool("update", false, "write the pages of the reference")

// docsLink is a link of the contract to a page of the documentation, relative to the address of the contract.
var docsLink = regexp.MustCompile(`\]\(docs/([a-z-]+)(#[a-z0-9-]+)?\)`)

const docsFolder = "../../../web/docs/"

// The pages of the reference say what the contract says. After a change of the contract, make reference writes them.
func TestReferenceIsWhatTheContractSays(t *testing.T) {
	t.Parallel()
	for page, text := range map[string]string{"http-reference.md": httpReference(), "live-reference.md": liveReference()} {
		text = docsLink.ReplaceAllString(text, "]($1.md$2)")
		if *update {
			require.NoError(t, os.WriteFile(docsFolder+page, []byte(text), 0o644))
		}
		written, err := os.ReadFile(docsFolder + page)
		require.NoError(t, err)
		require.Equal(t, text, string(written), "run: make reference")
	}
}

// The contract has the version that the page of changes describes first.
func TestContractHasTheVersionOfTheChanges(t *testing.T) {
	t.Parallel()
	changes, err := os.ReadFile(docsFolder + "changes.md")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(changes), "\n## Changes\n\n### ")
	latest, _, _ := strings.Cut(rest, "\n")
	for document := range typePages {
		require.Equal(t, latest, parse(document).at("info", "version").text(), document)
	}
}

// node is a part of a document, whose keys keep their order.
type node struct{ *yaml.Node }

func parse(document string) node {
	var root yaml.Node
	if err := yaml.Unmarshal(source(document), &root); err != nil {
		panic(err)
	}
	return node{root.Content[0]}
}

// at is the value below a path of keys; the zero node without one.
func (n node) at(keys ...string) node {
	for _, key := range keys {
		found := node{}
		for name, value := range n.all() {
			if name == key {
				found = value
			}
		}
		n = found
	}
	return n
}

// all yields the keys of a mapping and their values, in the order of the document.
func (n node) all() func(yield func(string, node) bool) {
	return func(yield func(string, node) bool) {
		if n.Node == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, node{n.Content[i+1]}) {
				return
			}
		}
	}
}

// list are the items of a sequence.
func (n node) list() (items []node) {
	if n.Node == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	for _, item := range n.Content {
		items = append(items, node{item})
	}
	return items
}

// text is the value of a scalar; "" for another node.
func (n node) text() string {
	if n.Node == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// reference writes a page about a document.
type reference struct {
	strings.Builder
	name     string // of the document
	document node
}

var typePages = map[string]string{httpDocument: "http-reference.md", liveDocument: "live-reference.md"}

// resolve follows a reference within the document.
func (r *reference) resolve(n node) node {
	if to := n.at("$ref").text(); strings.HasPrefix(to, "#/") {
		return r.document.at(strings.Split(to, "/")[1:]...)
	}
	return n
}

// link is the type that a reference names, as a link; "" without a reference.
func (r *reference) link(n node) string {
	to := n.at("$ref").text()
	if to == "" {
		return ""
	}
	document, place, _ := strings.Cut(to, "#")
	page := ""
	if document != "" && document != r.name {
		page = typePages[document]
	}
	name := place[strings.LastIndex(place, "/")+1:]
	return fmt.Sprintf("[%s](%s#%s)", name, page, strings.ToLower(name))
}

// typeOf is the type of a schema, in words.
func (r *reference) typeOf(n node) string {
	if link := r.link(n); link != "" {
		return link
	}
	for _, keyword := range []string{"oneOf", "anyOf", "allOf"} {
		var choices []string
		for _, one := range n.at(keyword).list() {
			choices = append(choices, r.typeOf(one))
		}
		if len(choices) > 0 {
			word := map[string]string{"oneOf": " or ", "anyOf": " or ", "allOf": " and "}[keyword]
			return strings.Join(choices, word)
		}
	}
	if value := n.at("const").text(); value != "" {
		return code(value)
	}
	if values := n.at("enum").list(); len(values) > 0 {
		var words []string
		for _, value := range values {
			words = append(words, code(value.text()))
		}
		return strings.Join(words, " ")
	}
	kind := n.at("type").text()
	for i, one := range n.at("type").list() {
		if i > 0 {
			kind += " or "
		}
		kind += one.text()
	}
	if kind == "array" && n.at("items").Kind == yaml.MappingNode {
		return "list of " + r.typeOf(n.at("items"))
	}
	if values := n.at("additionalProperties"); values.Node != nil && values.Kind == yaml.MappingNode {
		return "object of " + r.typeOf(values)
	}
	kind = strings.Replace(kind, "array", "list", 1)
	if tuple := n.at("items").list(); len(tuple) > 0 {
		var parts []string
		for _, one := range tuple {
			parts = append(parts, r.typeOf(one))
		}
		return "list of " + strings.Join(parts, " and ")
	}
	if kind == "" {
		return "any"
	}
	if format := n.at("format").text(); format == "date-time" {
		kind += ", " + format
	}
	return kind + bounds(n)
}

// bounds are the bounds of a number.
func bounds(n node) string {
	low, high := n.at("minimum").text(), n.at("maximum").text()
	switch {
	case low != "" && high != "":
		return " from " + low + " to " + high
	case low != "":
		return " from " + low
	}
	return ""
}

func code(s string) string { return "`" + s + "`" }

// cell is text in a cell of a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

// meaning is the description of a schema or of the type that it names, and its default.
func (r *reference) meaning(n node) string {
	said := n.at("description").text()
	if said == "" {
		said = r.resolve(n).at("description").text()
	}
	if said == "" && n.at("$ref").text() != "" { // of the other document
		document, place, _ := strings.Cut(n.at("$ref").text(), "#")
		said = parse(document).at(strings.Split(place, "/")[1:]...).at("description").text()
	}
	said = strings.TrimSpace(said)
	if otherwise := n.at("default").text(); otherwise != "" {
		said += " Default " + code(otherwise) + "."
	}
	return said
}

// fields writes a table of the properties of a schema, and of those that it is composed of.
func (r *reference) fields(n node) {
	var rows []string
	parts := n.at("allOf").list()
	for _, part := range append(parts, n) {
		if link := r.link(part); link != "" {
			rows = append(rows, "| | "+link+" | All its fields. |")
			continue
		}
		var required []string
		for _, name := range part.at("required").list() {
			required = append(required, name.text())
		}
		for name, property := range part.at("properties").all() {
			kind := r.typeOf(property)
			if !slices.Contains(required, name) {
				kind += ", optional"
			}
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", name, cell(kind), cell(r.meaning(property))))
		}
	}
	if len(rows) > 0 {
		fmt.Fprintf(r, "\n| field | type | meaning |\n|---|---|---|\n%s\n", strings.Join(rows, "\n"))
	}
}

// schemas writes a section about each schema of the document that a table can name.
func (r *reference) schemas(skip func(string) bool) {
	fmt.Fprint(r, "\n## Types\n")
	for name, schema := range r.document.at("components", "schemas").all() {
		if skip(name) {
			continue
		}
		fmt.Fprintf(r, "\n### %s\n", name)
		if said := strings.TrimSpace(schema.at("description").text()); said != "" {
			fmt.Fprintf(r, "\n%s\n", said)
		}
		if schema.at("properties").Node == nil && schema.at("allOf").Node == nil {
			fmt.Fprintf(r, "\nType: %s\n", r.typeOf(schema))
		}
		r.fields(schema)
	}
}

// head writes the title of a page and what the document says of itself.
func (r *reference) head(title string) {
	fmt.Fprintf(r, "# %s\n\nThis page is made from the contract [%s](../contract/%s), which programs can read: the server "+
		"answers it at `/%s`.\n\n%s\n",
		title, r.name, r.name, r.name, strings.TrimSpace(r.document.at("info", "description").text()))
}

// common are the answers that each operation may give. They stand on the page once.
var common = map[string]bool{"#/components/responses/Refused": true, "#/components/responses/Failed": true}

func httpReference() string {
	r := &reference{name: httpDocument, document: parse(httpDocument)}
	r.head("HTTP reference")
	fmt.Fprint(r, "\nEach request may also get one of these answers. A status that stands with the request itself has the "+
		"answer that stands there.\n\n| answer | type | meaning |\n|---|---|---|\n")
	for _, of := range []struct{ status, name string }{{"4XX", "Refused"}, {"5XX", "Failed"}} {
		response := r.document.at("components", "responses", of.name)
		fmt.Fprintf(r, "| %s | %s | %s |\n", of.status, r.typeOf(response.at("content", "application/problem+json", "schema")),
			response.at("description").text())
	}
	for _, tag := range r.document.at("tags").list() {
		fmt.Fprintf(r, "\n## %s\n\n%s\n", tag.at("name").text(), tag.at("description").text())
		for path, item := range r.document.at("paths").all() {
			for method, operation := range item.all() {
				if tags := operation.at("tags").list(); len(tags) > 0 && tags[0].text() == tag.at("name").text() {
					r.operation(strings.ToUpper(method)+" "+path, append(item.at("parameters").list(), operation.at("parameters").list()...), operation)
				}
			}
		}
		for _, item := range r.document.at("webhooks").all() {
			if operation := item.at("post"); operation.at("tags").list()[0].text() == tag.at("name").text() {
				r.operation("POST to your receiver", operation.at("parameters").list(), operation)
			}
		}
	}
	r.schemas(func(string) bool { return false })
	return r.String()
}

func (r *reference) operation(request string, parameters []node, operation node) {
	fmt.Fprintf(r, "\n### %s\n\n%s: `%s`", operation.at("operationId").text(), operation.at("summary").text(), request)
	security := operation.at("security")
	if security.Node == nil {
		security = r.document.at("security")
	}
	for _, requirement := range security.list() {
		bearer := requirement.at("bearer")
		for _, role := range bearer.list() {
			fmt.Fprintf(r, ", with the scope `%s`", role.text())
		}
		if bearer.Node != nil && len(bearer.list()) == 0 {
			fmt.Fprint(r, ", with any key or token")
		}
	}
	fmt.Fprint(r, ".")
	if said := operation.at("description").text(); said != "" {
		fmt.Fprint(r, " "+strings.TrimSpace(said))
	}
	fmt.Fprint(r, "\n")
	if len(parameters) > 0 {
		fmt.Fprint(r, "\n| parameter | in | type | meaning |\n|---|---|---|---|\n")
		for _, parameter := range parameters {
			parameter = r.resolve(parameter)
			kind := r.typeOf(parameter.at("schema"))
			if parameter.at("required").text() != "true" {
				kind += ", optional"
			}
			said := strings.TrimSpace(parameter.at("description").text())
			if otherwise := parameter.at("schema", "default").text(); otherwise != "" {
				said += " Default " + code(otherwise) + "."
			}
			fmt.Fprintf(r, "| `%s` | %s | %s | %s |\n", parameter.at("name").text(), parameter.at("in").text(), cell(kind), cell(said))
		}
	}
	body := r.resolve(operation.at("requestBody"))
	for media, content := range body.at("content").all() {
		fmt.Fprintln(r, "\n"+strings.TrimSpace(fmt.Sprintf("Body, `%s`: %s. %s", media, r.typeOf(content.at("schema")),
			body.at("description").text())))
	}
	fmt.Fprint(r, "\n| answer | type | meaning |\n|---|---|---|\n")
	for status, response := range operation.at("responses").all() {
		if common[response.at("$ref").text()] {
			continue
		}
		response = r.resolve(response)
		kinds := []string{}
		for media, content := range response.at("content").all() {
			kind := code(media)
			if strings.HasSuffix(media, "json") {
				kind = r.problem(content.at("schema"))
			}
			kinds = append(kinds, kind)
		}
		fmt.Fprintf(r, "| %s | %s | %s |\n", status, cell(strings.Join(kinds, " or ")),
			cell(strings.TrimSpace(response.at("description").text())))
	}
}

// problem is typeOf a schema; of a problem with certain codes it is the problem and these.
func (r *reference) problem(schema node) string {
	if parts := schema.at("allOf").list(); len(parts) == 2 && parts[1].at("properties", "code").Node != nil {
		return r.typeOf(parts[0]) + " with the code " + strings.ReplaceAll(r.typeOf(parts[1].at("properties", "code")), "` `", "` or `")
	}
	return r.typeOf(schema)
}

func liveReference() string {
	r := &reference{name: liveDocument, document: parse(liveDocument)}
	r.head("Message reference")
	messages := make(map[string]bool) // schemas of messages
	section := func(title string, action string) {
		fmt.Fprintf(r, "\n## %s\n", title)
		for name, message := range r.document.at("components", "messages").all() {
			schema := r.resolve(message.at("payload"))
			messages[strings.TrimPrefix(message.at("payload", "$ref").text(), "#/components/schemas/")] = true
			if actionOf(name) != action {
				continue
			}
			fmt.Fprintf(r, "\n### %s\n\n%s\n", upperFirst(message.at("title").text()), message.at("summary").text())
			r.fields(schema)
			r.answers(name)
		}
	}
	section("Messages of a client", "receive")
	section("Messages of the server", "send")
	fmt.Fprintf(r, "\n## Channels\n")
	for _, channel := range r.document.at("channels").all() {
		fmt.Fprintf(r, "\n### %s\n\nAddress: `%s`. %s %s\n\nMessages of the server:", channel.at("title").text(),
			channel.at("address").text(), channel.at("summary").text(), strings.TrimSpace(channel.at("description").text()))
		separator := " "
		for name := range channel.at("messages").all() {
			if actionOf(name) == "send" {
				fmt.Fprint(r, separator, r.messageLink(name))
				separator = ", "
			}
		}
		fmt.Fprint(r, ".\n")
	}
	r.schemas(func(name string) bool { return messages[name] })
	return r.String()
}

// answers writes which messages answer a message of a client.
func (r *reference) answers(message string) {
	for _, operation := range r.document.at("operations").all() {
		for _, one := range operation.at("messages").list() {
			if !strings.HasSuffix(one.at("$ref").text(), "/"+message) || operation.at("reply").Node == nil {
				continue
			}
			var links []string
			for _, reply := range operation.at("reply", "messages").list() {
				to := reply.at("$ref").text()
				links = append(links, r.messageLink(to[strings.LastIndex(to, "/")+1:]))
			}
			fmt.Fprintf(r, "\nThe answer is %s.\n", strings.Join(links, " or "))
		}
	}
}

// messageLink is a link to the section of a message.
func (r *reference) messageLink(name string) string {
	title := r.document.at("components", "messages", name, "title").text()
	return fmt.Sprintf("[%s](#%s)", title, strings.ReplaceAll(title, " ", "-"))
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
