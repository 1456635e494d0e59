// Package demo is what `rankcast serve --demo` shows: the boards of the example, which are
// those of a show and of a game, and traffic that a live page might have.
//
// A star gets flowers from viewers; a gift is a number of flowers from one viewer to one
// star, sent as the event "gift". Define adds the boards, the event and the profiles.
// PlayHistory fills an embedded store with two weeks of gifts before the server starts.
// Run then sends gifts, points and laps until it is stopped. traffic decides which gifts,
// and when: all of it follows from a seed. Players score points and drive laps at random.
package demo
