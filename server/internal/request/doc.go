// Package request decodes what clients send: path, query (ReadQuery), body (ReadBody, ReadPost) and the fields of JSON
// objects. Each error names the parameter or field. RequireJSON stands around the handlers of writes with a JSON body.
// A handler passes what it has read to the Store of package ranking.
package request
