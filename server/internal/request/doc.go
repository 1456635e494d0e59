// Package request decodes what clients send: path, query, body and the fields of JSON objects. Each
// error names the parameter or field.
package request
