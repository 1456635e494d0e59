// Package docs runs the examples of README and of the documentation, each as its page says: commands in a shell, messages on
// a socket, and pages and scripts in a browser. parse_test.go has the forms of examples.
package docs
