package sample

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// person is somebody of the fiction, or an organisation that writes in its own name.
type person struct {
	Name  string `yaml:"name"`  // empty: known by the login alone
	Login string `yaml:"login"` // in the forum and on the forge
	Mail  string `yaml:"mail"`
	Role  string `yaml:"role"` // in the forum: admin or moderator
	Kind  string `yaml:"kind"` // of the account on the forge: User, Bot
}

// people are found by login and by name.
type people map[string]person

func readPeople(text []byte) (people, error) {
	var all []person
	if err := decodeYAML(text, &all); err != nil {
		return nil, err
	}
	p := people{}
	for _, one := range all {
		for _, key := range []string{one.Name, one.Login} {
			if _, ok := p[key]; ok && key != "" {
				return nil, fmt.Errorf("%s is listed twice", key)
			}
			if key != "" {
				p[key] = one
			}
		}
	}
	return p, nil
}

// find returns who writes under a login or a name.
func (p people) find(key string) (person, error) {
	one, ok := p[key]
	if !ok {
		return person{}, fmt.Errorf("%q is not in people.yaml", key)
	}
	return one, nil
}

// identity is a number that servers give out, the same for the same parts.
func identity(parts ...any) int {
	sum := sha256.Sum256(fmt.Append(nil, parts...))
	return int(binary.BigEndian.Uint32(sum[:4])%90_000_000) + 10_000_000
}
