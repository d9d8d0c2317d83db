package options

import (
	"encoding/json"
	"reflect"
)

// Fingerprint returns what determines how a source is read as one text: all values
// but the names of environment variables.
func Fingerprint(v any) string {
	raw, err := json.Marshal(plain(reflect.ValueOf(v)))
	if err != nil {
		panic("options: want plain data: " + err.Error())
	}
	return string(raw)
}

func plain(v reflect.Value) any {
	switch t := v.Type(); {
	case t.Kind() == reflect.Pointer && v.IsNil():
		return nil
	case t.Kind() == reflect.Pointer:
		return plain(v.Elem())
	case t.Kind() == reflect.Struct:
		out := map[string]any{}
		for _, f := range Fields(t) {
			if f.Format != "env" {
				out[f.Name] = plain(f.In(v))
			}
		}
		return out
	case t.Kind() == reflect.Slice:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = plain(v.Index(i))
		}
		return out
	case t.Kind() == reflect.Map:
		out := map[string]any{}
		for key, value := range v.Seq2() {
			out[key.String()] = plain(value)
		}
		return out
	}
	return v.Interface()
}
