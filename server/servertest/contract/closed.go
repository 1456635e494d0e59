//go:build !race

package contract

// closed is a copy of a part of a document in which an object has the properties that stand there, and no others. By
// the contract, an answer may get more of them in a later version; a test must see each one that is there now. An
// object that is composed of others becomes one.
func closed(part any) any {
	switch part := part.(type) {
	case []any:
		list := make([]any, len(part))
		for i, inner := range part {
			list[i] = closed(inner)
		}
		return list
	case object:
		if _, isComposed := part["allOf"]; isComposed {
			part = composed(part)
		}
		copied := make(object, len(part)+1)
		for key, inner := range part {
			copied[key] = closed(inner)
		}
		_, hasProperties := part["properties"].(object)
		if _, isDecided := part["additionalProperties"]; hasProperties && !isDecided {
			copied["additionalProperties"] = false
		}
		return copied
	}
	return part
}

// composed is one schema instead of those that an allOf lists. Each may narrow properties of those before it.
func composed(part object) object {
	properties, required := make(object), []any{}
	for _, one := range part["allOf"].([]any) {
		whole := below(one).object
		if _, isComposed := whole["allOf"]; isComposed {
			whole = composed(whole)
		}
		own, _ := whole["properties"].(object)
		for name, property := range own {
			properties[name] = property
		}
		names, _ := whole["required"].([]any)
		required = append(required, names...)
	}
	return object{"type": "object", "properties": properties, "required": required}
}
