// Package event tells who is watching that something has just changed. It carries
// no data: a watcher is woken and looks at the record itself, so a missed or merged
// event loses nothing.
package event

import "sync"

// Hub wakes watchers of topics. The zero value is not usable; see NewHub.
type Hub struct {
	mu     sync.Mutex
	remote func(topic string)
	topics map[string]map[chan struct{}]struct{}
}

// NewHub makes an empty hub.
func NewHub() *Hub { return &Hub{topics: map[string]map[chan struct{}]struct{}{}} }

// Publish wakes everyone who watches topic, here and in other services. It never blocks.
func (h *Hub) Publish(topic string) {
	h.Wake(topic)
	h.mu.Lock()
	remote := h.remote
	h.mu.Unlock()
	if remote != nil {
		remote(topic)
	}
}

// Relay has each published topic told to other services too; tell must not block.
func (h *Hub) Relay(tell func(topic string)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remote = tell
}

// Wake wakes everyone who watches topic here.
func (h *Hub) Wake(topic string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ch := range h.topics[topic] {
		select {
		case ch <- struct{}{}:
		default: // already woken and not yet looked
		}
	}
}

// Watch answers a channel that receives after each Publish of topic (several may
// arrive as one), and a function that ends the watch.
func (h *Hub) Watch(topic string) (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.topics[topic] == nil {
		h.topics[topic] = map[chan struct{}]struct{}{}
	}
	h.topics[topic][ch] = struct{}{}
	return ch, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.topics[topic], ch)
		if len(h.topics[topic]) == 0 {
			delete(h.topics, topic)
		}
	}
}
