package servertest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rankcast/ranking/definition"
)

// WebhookSecret is what messages to a Receiver must be signed with.
const WebhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// Message is what a webhook tells of a closed period.
type Message struct {
	ID     string
	Board  string
	Period string
	Ended  time.Time
	Total  int64
	Top    []struct {
		Rank   int64
		Member string
		Score  int64
	}
}

// Receiver is an http.Handler that a webhook is to tell. It checks each message as a
// receiver should, and keeps it.
type Receiver struct {
	T testing.TB
	// Answer answers the n-th message, from 0; nil: with 200.
	Answer func(n int, w http.ResponseWriter, r *http.Request)

	mu   sync.Mutex
	got  []Message
	from []string
}

func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	n := r.Keep(req)
	if r.Answer != nil {
		r.Answer(n, w, req)
	}
}

// Keep checks a message and keeps it; it is the n-th, from 0.
func (r *Receiver) Keep(req *http.Request) (n int) {
	m, err := verify(req)
	if err != nil {
		r.T.Errorf("message to a webhook: %v", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got, r.from = append(r.got, m), append(r.from, req.RemoteAddr)
	return len(r.got) - 1
}

// Messages are those that came so far, and From where each came from.
func (r *Receiver) Messages() []Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// From are the addresses that messages came from.
func (r *Receiver) From() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.from)
}

// Tries are how often each board-period came, and under how many ids.
func (r *Receiver) Tries() (tries, ids map[string]int) {
	tries, ids = make(map[string]int), make(map[string]int)
	seen := make(map[string]bool)
	for _, m := range r.Messages() {
		name := definition.Qualify(m.Board, m.Period)
		tries[name]++
		if !seen[name+m.ID] {
			ids[name]++
		}
		seen[name+m.ID] = true
	}
	return tries, ids
}

// verify does what Standard Webhooks asks of a receiver, from its text and not with
// the sender's code.
func verify(req *http.Request) (m Message, err error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, err
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(WebhookSecret, "whsec_"))
	if err != nil {
		return m, err
	}
	id, timestamp, signatures := req.Header.Get("webhook-id"), req.Header.Get("webhook-timestamp"), req.Header.Get("webhook-signature")
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	switch {
	case err != nil:
		return m, err
	case req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/json":
		return m, fmt.Errorf("%s of %q", req.Method, req.Header.Get("Content-Type"))
	case !slices.Contains(strings.Fields(signatures), want):
		return m, fmt.Errorf("signature %q; want %q", signatures, want)
	case time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute:
		return m, fmt.Errorf("sent at %v", time.Unix(seconds, 0))
	case id == "" || m.ID != id:
		return m, fmt.Errorf("id %q of a message %q", id, m.ID)
	}
	return m, nil
}
