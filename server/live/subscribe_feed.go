package live

import (
	"rankcast/hub"
	"rankcast/ranking/definition"
)

// subscribeFeed subscribes to the feed of an event.
func (ss *session) subscribeFeed(m *message) error {
	feed := m.about.Name
	if err := ss.sessions.store.CheckFeed(ss.sessions.calls, feed); err != nil {
		return err
	}
	accepted := func() { ss.socket.reply(answerFrame("ok", m.id)) }
	ss.mu.Lock()
	again, held := ss.feeds[feed] != nil, len(ss.feeds)
	ss.mu.Unlock()
	if again {
		accepted() // the subscription exists already
		return nil
	}
	if err := ss.allowSubscription("feed", held); err != nil {
		return err
	}
	var filter hub.Filter
	if feed == definition.PeriodsFeed {
		filter = ss.periodsFilter()
	}
	sub, err := ss.sessions.hub.Follow(ss.client, feed, filter, accepted)
	if err != nil {
		return err
	}
	err = ss.keep(m, func() {
		if ss.feeds == nil {
			ss.feeds = make(map[string]*hub.Subscription)
		}
		ss.feeds[feed] = sub
	})
	if err != nil {
		ss.sessions.hub.Unsubscribe(sub)
		ss.socket.reply(lostSubscription{about: m.about, err: err}.frame())
	}
	return nil
}

func (ss *session) unsubscribeFeed(m *message) error {
	return ss.endSubscription(m, "feed", ss.feeds)
}
