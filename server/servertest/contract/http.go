//go:build !race

package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	stdpath "path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/pb33f/libopenapi-validator/errors"
	"github.com/pb33f/libopenapi-validator/paths"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// httpContract is the contract for HTTP, and what checks requests and answers by it.
type httpContract struct {
	validator.Validator
	document *v3.Document
	options  *config.ValidationOptions
}

var overHTTP = sync.OnceValue(func() *httpContract {
	text, err := json.Marshal(closed(documents()[httpDocument]))
	if err != nil {
		panic(err)
	}
	document, err := libopenapi.NewDocument(bytes.ReplaceAll(text, []byte(httpDocument+"#"), []byte("#")))
	if err != nil {
		panic(err)
	}
	model, err := document.BuildV3Model()
	if err != nil {
		panic(err)
	}
	options := []config.Option{config.WithoutSecurityValidation(), config.WithFormatAssertions(), config.WithRegexCache(new(sync.Map))}
	return &httpContract{validator.NewValidatorFromV3Model(&model.Model, options...), &model.Model, config.NewValidationOptions(options...)}
})

// CheckHTTP fails a test whose request or answer is not by the contract. A request that the server refuses need not be
// by it. A request for a page has no contract, nor has one that found no route.
func CheckHTTP(t testing.TB, sent *http.Request, body []byte, got *http.Response, answer []byte) {
	t.Helper()
	if sent.Method == http.MethodHead || sent.Method == http.MethodOptions {
		return
	}
	c := overHTTP()
	request, err := http.NewRequest(sent.Method, sent.URL.String(), bytes.NewReader(body))
	require.NoError(t, err)
	request.Header = sent.Header.Clone()
	if got.StatusCode == 404 && strings.HasPrefix(got.Header.Get("Content-Type"), "text/plain") {
		return // a listener without the API
	}
	item, _, path := paths.FindPath(request, c.document, c.options)
	if cleaned := stdpath.Clean(sent.URL.Path); cleaned != sent.URL.Path {
		return // a member may have a name such as "..", which the library takes for a part of the path
	}
	if item == nil || item.GetOperations().GetOrZero(strings.ToLower(sent.Method)) == nil {
		require.True(t, got.StatusCode >= 400 || !strings.HasPrefix(sent.URL.Path, "/v1/"), "the contract has no %s %s", sent.Method,
			sent.URL.Path)
		SeeProblem(answer)
		return
	}
	operation := operationAt(path, sent.Method)
	name := operation["operationId"].(string)
	seen.Store(fmt.Sprintf("%s %d", name, got.StatusCode), true)
	var problem struct{ Code string }
	if json.Unmarshal(answer, &problem) == nil && problem.Code != "" {
		seen.Store(fmt.Sprintf("%s %d %s", name, got.StatusCode, problem.Code), true)
	}
	if got.StatusCode < 400 {
		if kept, some := accepted(body, answer); some {
			c.checkRequest(t, request, item, operation, kept)
		}
	}
	for _, part := range parts(got, answer) {
		response := *got
		response.Body = io.NopCloser(bytes.NewReader(part))
		valid, faults := c.ValidateHttpResponse(request, &response)
		require.True(t, valid, "the answer to %s %s is not by the contract: %d %s\n%s", sent.Method, sent.URL, got.StatusCode, part,
			texts(faults))
		responses := operation["responses"].(object)
		of, exact := responses[strconv.Itoa(got.StatusCode)].(object)
		if !exact {
			of = responses[fmt.Sprintf("%dXX", got.StatusCode/100)].(object)
		}
		see(of, got.Header.Get("Content-Type"), part)
	}
}

// operationAt is an operation of the contract.
func operationAt(path, method string) object {
	return documents()[httpDocument]["paths"].(object)[path].(object)[strings.ToLower(method)].(object)
}

// CheckOpened fails a test that has opened a socket or a stream by a request that is not by the contract.
func CheckOpened(t testing.TB, url string, status int) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	require.NoError(t, err)
	c := overHTTP()
	item, _, path := paths.FindPath(request, c.document, c.options)
	require.NotNil(t, item, url)
	operation := operationAt(path, request.Method)
	require.Contains(t, operation["responses"], strconv.Itoa(status))
	seen.Store(fmt.Sprintf("%s %d", operation["operationId"], status), true)
	c.checkRequest(t, request, item, operation, nil)
}

// checkRequest fails a test whose request the server has accepted, although it is not by the contract.
func (c *httpContract) checkRequest(t testing.TB, request *http.Request, item *v3.PathItem, operation object, body []byte) {
	t.Helper()
	known := item.Parameters
	if own := item.GetOperations().GetOrZero(strings.ToLower(request.Method)); own != nil {
		known = slices.Concat(known, own.Parameters)
	}
	for name := range request.URL.Query() {
		seen.Store(operation["operationId"].(string)+"?"+name, true)
		require.True(t, operation["operationId"] == "readCard" || slices.ContainsFunc(known,
			func(p *v3.Parameter) bool { return p.In == "query" && p.Name == name }),
			"the contract has no parameter %s of %s %s", name, request.Method, request.URL)
	}
	switch media, _, _ := mime.ParseMediaType(request.Header.Get("Content-Type")); {
	case len(body) == 0:
		request.Header.Del("Content-Type")
	case media == "application/x-ndjson": // the library would read all lines as one value
		request.Header.Set("Content-Type", media)
		body, _, _ = bytes.Cut(body, []byte("\n"))
	case media != "text/csv" && media != "application/yaml":
		request.Header.Set("Content-Type", "application/json") // the server takes JSON by other names, too
	}
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	valid, faults := c.ValidateHttpRequestSync(request)
	require.True(t, valid, "the server has accepted %s %s, which is not by the contract: %s\n%s", request.Method, request.URL,
		body, texts(faults))
	if of, ok := operation["requestBody"].(object); ok {
		see(of, request.Header.Get("Content-Type"), body)
	}
}

// accepted is the body of a request, without the items of a batch that the answer refuses. It reports false if the
// answer refuses all.
func accepted(body, answer []byte) (kept []byte, some bool) {
	var sent map[string]json.RawMessage
	var got struct {
		Results []struct{ Error any }
	}
	if json.Unmarshal(body, &sent) != nil || json.Unmarshal(answer, &got) != nil {
		return body, true
	}
	for _, field := range []string{"updates", "events"} {
		var items, counted []json.RawMessage
		if json.Unmarshal(sent[field], &items) != nil || len(items) != len(got.Results) {
			continue
		}
		for i, item := range items {
			if got.Results[i].Error == nil {
				counted = append(counted, item)
			}
		}
		sent[field], _ = json.Marshal(counted)
		body, _ = json.Marshal(sent)
		return body, len(counted) > 0
	}
	return body, true
}

// parts are the values of an answer: the lines of NDJSON, or else the answer.
func parts(got *http.Response, answer []byte) [][]byte {
	if !strings.Contains(got.Header.Get("Content-Type"), "ndjson") {
		return [][]byte{answer}
	}
	return slices.Collect(bytes.Lines(answer))
}

// SeeProblem notes a problem that a test has got by a client of its own.
func SeeProblem(body []byte) {
	var value any
	if json.Unmarshal(body, &value) == nil {
		component(httpDocument, "Problem").see(value)
	}
}

// webhookMessage is the compiled schema of the message of a webhook.
var webhookMessage = sync.OnceValue(func() *jsonschema.Schema {
	return compile(httpDocument + "#/webhooks/periodClosed/post/requestBody/content/application~1json/schema")
})

// CheckWebhook returns an error about a message of a webhook that is not by the contract.
func CheckWebhook(body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return webhookMessage().Validate(value)
}

// see notes what a valid body holds. of is a request body or a response of the contract.
func see(of object, contentType string, body []byte) {
	media, _, _ := strings.Cut(contentType, ";")
	content, _ := componentOf(of)["content"].(object)
	declared, _ := content[media].(object)
	var value any
	if declared["schema"] == nil || json.Unmarshal(body, &value) != nil {
		return
	}
	below(declared["schema"]).see(value)
}

func texts(faults []*errors.ValidationError) string {
	var b strings.Builder
	for _, fault := range faults {
		fmt.Fprintln(&b, fault.Error(), fault.Reason)
		for _, inner := range fault.SchemaValidationErrors {
			fmt.Fprintln(&b, " ", inner.FieldPath, inner.Reason)
		}
	}
	return b.String()
}

// Operations are the scopes that each operation needs one of, by method and path: nil for an operation that is open to
// everybody, and none for one that any key or token may use.
func Operations() map[string][]string {
	all := make(map[string][]string)
	standard := documents()[httpDocument]["security"].([]any)
	for path, item := range documents()[httpDocument]["paths"].(object) {
		for method, operation := range item.(object) {
			operation, isOperation := operation.(object)
			if !isOperation {
				continue
			}
			requirements, own := operation["security"].([]any)
			if !own {
				requirements = standard
			}
			var scopes []string
			for _, requirement := range requirements {
				if roles, named := requirement.(object)["bearer"].([]any); named {
					scopes = []string{}
					for _, role := range roles {
						scopes = append(scopes, role.(string))
					}
				}
			}
			all[strings.ToUpper(method)+" "+path] = scopes
		}
	}
	return all
}
