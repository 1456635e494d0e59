package server

// APIRoutes are the methods and paths of all routes of the API, for tests of other packages.
func APIRoutes() (all []string) {
	for _, r := range (&Server{}).apiRoutes() {
		all = append(all, r.method+" "+r.path)
	}
	return all
}
