package admin

import "context"

// Operator is the name of a user of the admin listener who gave none.
const Operator = "operator"

type userKey struct{}

// WithUser stores in a context who makes a request.
func WithUser(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, userKey{}, name)
}

// User returns who makes a request.
func User(ctx context.Context) string {
	if name, _ := ctx.Value(userKey{}).(string); name != "" {
		return name
	}
	return Operator
}
