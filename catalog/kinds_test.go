package catalog_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
)

// declaredKinds reads the constants of type Kind from the source.
func declaredKinds(t *testing.T) []catalog.Kind {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "record.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []catalog.Kind
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "Kind" {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, catalog.Kind(value))
		}
		return true
	})
	return kinds
}

func TestEveryKindHasOneEntryInTheTable(t *testing.T) {
	declared := declaredKinds(t)
	if len(declared) != len(catalog.Kinds) || len(declared) < 30 {
		t.Errorf("%d kinds are declared, %d are in the table", len(declared), len(catalog.Kinds))
	}
	types := map[reflect.Type]catalog.Kind{}
	for _, kind := range declared {
		info, ok := catalog.InfoOf(kind)
		if !ok {
			t.Errorf("%s is not in the table", kind)
			continue
		}
		if info.Description == "" || info.Data.Kind() != reflect.Struct {
			t.Errorf("%s has description %q and data %v", kind, info.Description, info.Data)
		}
		if other, taken := types[info.Data]; taken {
			t.Errorf("%s and %s share %v", kind, other, info.Data)
		}
		types[info.Data] = kind
	}
}

// What treats kinds alike asks for their role and place: a kind without them is
// left out of conversations, of trends, of citations …
func TestEveryKindIsToldApart(t *testing.T) {
	roles := strings.Fields("proposal file page publication thread work message change fact")
	places := strings.Fields("cips forum mail forge blog videos proposals docs")
	for _, info := range catalog.Kinds {
		if !slices.Contains(roles, string(info.Role)) || info.Kind.Role() != info.Role {
			t.Errorf("%s has role %q", info.Kind, info.Role)
		}
		if !slices.Contains(places, info.Place) || info.Kind.Place() != info.Place {
			t.Errorf("%s is found at %q", info.Kind, info.Place)
		}
		if !slices.Contains(catalog.KindsAt(info.Place, info.Role), info.Kind) {
			t.Errorf("%s is not among those of its place and role", info.Kind)
		}
	}
	for _, place := range places {
		threads := catalog.KindsAt(place, catalog.RoleThread)
		if messages := catalog.KindsAt(place, catalog.RoleMessage); len(threads) != len(messages) || len(threads) > 1 {
			t.Errorf("at %s conversations are %v and %v", place, threads, messages)
		}
	}
	got := catalog.KindsOf(catalog.RoleThread, catalog.RoleMessage)
	want := strings.Fields("topic post mail_thread mail_message discussion comment")
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("conversations are %v, want %v", got, want)
	}
}

// snapshots are the structs of snapshot series, held to the rules of kinds.
var snapshots = []reflect.Type{
	reflect.TypeFor[catalog.NetworkState](), reflect.TypeFor[catalog.MarketState](), reflect.TypeFor[catalog.Stats](),
}

func dataTypes() []reflect.Type {
	list := slices.Clone(snapshots)
	for _, info := range catalog.Kinds {
		list = append(list, info.Data)
	}
	return list
}

func TestEveryStructRoundTrips(t *testing.T) {
	for _, typ := range dataTypes() {
		t.Run(typ.Name(), func(t *testing.T) {
			value := reflect.New(typ)
			fill(t, value.Elem(), 0)
			first, err := catalog.Encode(value.Interface())
			if err != nil {
				t.Fatal(err)
			}
			again := reflect.New(typ)
			decoder := json.NewDecoder(strings.NewReader(string(first)))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(again.Interface()); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(value.Interface(), again.Interface()); d != "" {
				t.Fatalf("it came back changed (-want +got):\n%s", d)
			}
			second, err := catalog.Encode(again.Interface())
			if err != nil || string(first) != string(second) {
				t.Fatalf("equal values encode to %s and %s, %v", first, second, err)
			}
		})
	}
}

// fill sets every field to something that is not its zero value, so that a
// field without a name, or two of one name, show.
func fill(t *testing.T, v reflect.Value, depth int) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), depth+1)
		fill(t, v.Index(1), depth+1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, depth+1)
		fill(t, value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), depth+1)
		}
	default:
		t.Fatalf("no value for %v", v.Type())
	}
}

func TestFieldsAreNamedInSnakeCaseAndRepeatNoColumn(t *testing.T) {
	columns := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[catalog.Record]()) {
		columns[f.Name] = true
	}
	exceptions := map[string]string{
		"VoteRequest.Votes": "ballots; the column counts likes",
		"CIP.Category":      "within the type; the column is the type",
	}
	for _, typ := range dataTypes() {
		for _, f := range reflect.VisibleFields(typ) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || name != strings.ToLower(name) || strings.ContainsAny(name, " -") {
				t.Errorf("%s.%s is named %q", typ.Name(), f.Name, name)
			}
			if _, ok := exceptions[typ.Name()+"."+f.Name]; columns[f.Name] && !ok && !slices.Contains(snapshots, typ) {
				t.Errorf("%s.%s repeats a column", typ.Name(), f.Name)
			}
		}
	}
}

func TestDecode(t *testing.T) {
	topic := catalog.Record{Kind: catalog.KindTopic, Key: "1", Data: []byte(`{"posts":3}`)}
	t.Run("reads the kind's struct", func(t *testing.T) {
		got, err := catalog.Decode[catalog.Topic](topic)
		if err != nil || got.Posts != 3 {
			t.Fatalf("%+v, %v", got, err)
		}
	})
	t.Run("refuses another kind's struct", func(t *testing.T) {
		if _, err := catalog.Decode[catalog.Post](topic); err == nil {
			t.Fatal("no error")
		}
	})
	t.Run("no data is the zero value", func(t *testing.T) {
		got, err := catalog.Decode[catalog.Topic](catalog.Record{Kind: catalog.KindTopic})
		if err != nil || got != (catalog.Topic{}) {
			t.Fatalf("%+v, %v", got, err)
		}
	})
	t.Run("broken data names the record", func(t *testing.T) {
		_, err := catalog.Decode[catalog.Topic](catalog.Record{Kind: catalog.KindTopic, Key: "77",
			Data: []byte(`{"posts":"many"}`)})
		if err == nil || !strings.Contains(err.Error(), "topic 77") {
			t.Fatalf("error is %v", err)
		}
	})
}

func TestToolServerIsCallable(t *testing.T) {
	open := catalog.ToolServer{Endpoint: "https://tools.example/mcp", Transport: "http", Hosted: true, Free: true}
	if !open.Callable() {
		t.Error("a free hosted server without authentication is not callable")
	}
	for name, change := range map[string]func(*catalog.ToolServer){
		"paid":    func(s *catalog.ToolServer) { s.Free = false },
		"local":   func(s *catalog.ToolServer) { s.Hosted = false },
		"stdio":   func(s *catalog.ToolServer) { s.Transport = "stdio" },
		"key":     func(s *catalog.ToolServer) { s.Auth = "key" },
		"no site": func(s *catalog.ToolServer) { s.Endpoint = "" },
	} {
		s := open
		if change(&s); s.Callable() {
			t.Errorf("%s: callable", name)
		}
	}
}
