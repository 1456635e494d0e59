package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"rankcast/ranking"
)

const (
	// answerBytes bounds how much of an answer's body the node reads, headerBytes how much of
	// its header.
	answerBytes = 4 << 10
	headerBytes = 32 << 10
	// answerLogBytes bounds how much of a body goes to the log.
	answerLogBytes = 200
)

// CheckURL returns an error for a URL to which no message can be sent: neither http nor https,
// or without a host. The error never repeats the URL, which may hold a password.
func CheckURL(s string) error {
	u, err := url.Parse(s)
	if err != nil {
		// The error of url.Parse repeats the URL.
		return errors.New("is not a URL")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("want http://host… or https://host…")
	}
	return nil
}

// newClient makes a client with one connection for each attempt, so that bytes which a receiver
// sends after its answer cannot pass for the answer to another message.
func newClient() *http.Client {
	var http1 http.Protocols
	http1.SetHTTP1(true)
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, Protocols: &http1,
			DisableCompression: true, MaxResponseHeaderBytes: headerBytes,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// send makes one attempt. Only a 2xx answer is a success.
func (w *Webhook) send(ctx context.Context, d ranking.Delivery) error {
	ctx, cancel := context.WithTimeout(ctx, w.cfg.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.cfg.URL, bytes.NewReader(d.Body))
	if err != nil {
		return errors.New("is not a URL")
	}
	timestamp := strconv.FormatInt(d.Now.Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "rankcast")
	req.Header.Set("Webhook-Id", d.ID)
	req.Header.Set("Webhook-Timestamp", timestamp)
	req.Header.Set("Webhook-Signature", sign(w.key, d.ID, timestamp, d.Body))
	res, err := w.client.Do(req)
	if err != nil {
		// The URL may hold a password or a token.
		if inner := new(url.Error); errors.As(err, &inner) {
			err = inner.Err
		}
		return err
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(res.Body, answerBytes)) // the body is for the log only
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("the receiver answers %d %q", res.StatusCode, answer[:min(len(answer), answerLogBytes)])
	}
	return nil
}
