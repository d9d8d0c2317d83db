package admin

import "context"

// Operator is who works on the admin listener and gave no name.
const Operator = "operator"

type userKey struct{}

// WithUser says who makes a request.
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
