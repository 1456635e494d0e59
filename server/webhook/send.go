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
	// answerBytes is how much of an answer is read, and headerBytes of its head.
	answerBytes = 4 << 10
	headerBytes = 32 << 10
	// answerLogBytes is how much of it a log has.
	answerLogBytes = 200
)

// CheckURL refuses what no message can be sent to.
func CheckURL(s string) error {
	u, err := url.Parse(s)
	if err != nil {
		// Not the error itself: it repeats the URL, which may hold a password.
		return errors.New("is no URL")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("want http://host… or https://host…")
	}
	return nil
}

// newClient makes a client that has a connection for each try: what a receiver says
// beyond its answer reaches nobody.
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

// send tries once. Only a 2xx is a success.
func (w *Webhook) send(ctx context.Context, d ranking.Delivery) error {
	ctx, cancel := context.WithTimeout(ctx, w.cfg.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.cfg.URL, bytes.NewReader(d.Body))
	if err != nil {
		return errors.New("is no URL")
	}
	timestamp := strconv.FormatInt(d.Now.Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "rankcast")
	req.Header.Set("Webhook-Id", d.ID)
	req.Header.Set("Webhook-Timestamp", timestamp)
	req.Header.Set("Webhook-Signature", sign(w.key, d.ID, timestamp, d.Body))
	res, err := w.client.Do(req)
	if err != nil {
		// Without the URL, which may hold a password or a token.
		if inner := new(url.Error); errors.As(err, &inner) {
			err = inner.Err
		}
		return err
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(res.Body, answerBytes)) // what cannot be read is not needed
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("it answers %d %q", res.StatusCode, answer[:min(len(answer), answerLogBytes)])
	}
	return nil
}
