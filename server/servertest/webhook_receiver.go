package servertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"rankcast/ranking/definition"
	"rankcast/server/servertest/contract"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// WebhookSecret is the secret of all Receivers.
const WebhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// Message is a webhook's message about a closed period.
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

// Receiver is a webhook's receiver. It verifies each message and keeps it. All methods may be called
// concurrently.
type Receiver struct {
	T testing.TB
	// Answer answers message number n, from 0. Default: 200.
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

// Keep verifies a message and keeps it. It returns the message's number, from 0.
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

// Messages returns the messages so far.
func (r *Receiver) Messages() []Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// From returns the sender's address of each message so far.
func (r *Receiver) From() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.from)
}

// Tries returns, for each board and period, the number of messages and the number of their ids.
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

// verify verifies a message with the library of Standard Webhooks for receivers, not with the sender's
// code.
func verify(req *http.Request) (m Message, err error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, err
	}
	if err := contract.CheckWebhook(body); err != nil {
		return m, err
	}
	receiver, err := standardwebhooks.NewWebhook(WebhookSecret)
	if err != nil {
		return m, err
	}
	if err := receiver.Verify(body, req.Header); err != nil {
		return m, err
	}
	switch id := req.Header.Get(standardwebhooks.HeaderWebhookID); {
	case req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/json":
		return m, fmt.Errorf("%s of %q", req.Method, req.Header.Get("Content-Type"))
	case m.ID != id:
		return m, fmt.Errorf("id %q of a message %q", id, m.ID)
	}
	return m, nil
}
