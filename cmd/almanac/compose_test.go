package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"go.yaml.in/yaml/v3"

	"almanac/cmd/config"
)

const composeDir = "../../compose"

// TestCompose holds compose.yaml and what it mounts to the program, without a
// container engine: as it is, with all profiles, and as env.example sets it.
func TestCompose(t *testing.T) {
	t.Parallel()
	file := readText(t, "compose.yaml")
	example := exampleEnv(t)
	always := []string{"almanac", "meilisearch", "ollama", "qdrant", "volumes"}
	profiles := map[string][]string{
		"observe": {"grafana", "prometheus"},
		"scale": {"caddy", "postgres", "qdrant1", "qdrant2", "qdrant3", "reader1", "reader2", "redis", "volumes-scale",
			"writer"},
	}
	profiles["env.example"] = profiles["observe"]
	for name, load := range map[string]func() (*types.Project, error){
		"default":     func() (*types.Project, error) { return loadCompose(t, []string{file}, nil) },
		"observe":     func() (*types.Project, error) { return loadCompose(t, []string{file}, nil, "observe") },
		"scale":       func() (*types.Project, error) { return loadCompose(t, []string{file}, nil, "scale") },
		"env.example": func() (*types.Project, error) { return loadCompose(t, []string{file}, example, "observe") },
	} {
		p, err := load()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := slices.Concat(always, profiles[name])
		slices.Sort(want)
		if got := p.ServiceNames(); !slices.Equal(got, want) {
			t.Errorf("%s: the services are %v, want %v", name, got, want)
		}
		for _, problem := range problems(t, p) {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

// TestComposeChecksFind spoils compose.yaml in one place each.
func TestComposeChecksFind(t *testing.T) {
	t.Parallel()
	file := readText(t, "compose.yaml")
	for _, tt := range []struct{ old, new, want string }{
		{"ALMANAC_EMBED_KIND: ollama", "ALMANAC_EMBED_KIND: olama", "embed.kind"},
		{"ALMANAC_VECTOR_URL:", "ALMANAC_VECTOR_ADDR:", "ALMANAC_VECTOR_ADDR is not a setting"},
		{"ALMANAC_VECTOR_URL:", "ALMANAC_PORT:", "ALMANAC_PORT is not a setting"},
		{"ALMANAC_KEYWORD_KEY_FILE: /run/secrets/meilisearch_key",
			"ALMANAC_KEYWORD_KEY_FILE: /run/secrets/grafana_password", "grafana_password"},
		{"${PUBLISH:-127.0.0.1:8080}:8080", "${PUBLISH:-127.0.0.1:8080}:9090", "port 9090"},
		{"${PUBLISH:-127.0.0.1:8080}:8080", "${PUBLISH:-0.0.0.0:8080}:8080", "not on loopback"},
		{"networks: [engines]\n    volumes: [\"qdrant",
			"networks: [engines]\n    ports: [\"127.0.0.1:6334:6334\"]\n    volumes: [\"qdrant", "qdrant: publishes"},
		{"getmeili/meilisearch:v1.50.0\n    user: \"1000:1000\"",
			"getmeili/meilisearch:latest\n    user: \"1000:1000\"", "getmeili/meilisearch:latest"},
		{"image: ollama/ollama", "image: registry.example/ollama/ollama", "registry.example"},
		{"almanac:" + release, "almanac:0.0.9", "is not of this version"},
		{"  read_only: true\n", "", "can write its root"},
		{"  cap_drop: [ALL]\n", "", "keeps capabilities"},
		{"no-new-privileges:true", "label:disable", "may gain privileges"},
		{"user: \"1000:1000\"", "user: \"0:0\"", "runs as root"},
		{"chown 10001:10001 /volumes/data", "true", "the volume data"},
		{"mem_limit: 1g", "mem_swappiness: 0", "no memory limit"},
		{"[\"CMD\", \"ollama\", \"list\"]", "[NONE]", "ollama: no health check"},
		{"\"/almanac\", \"health\"", "\"/almanac\", \"helth\"", "helth"},
		{"required: false", "required: true", "does without"},
		{"data:/data", "data:/var/data", "/var/data"},
		{"./prometheus.yaml:", "./prometheus.yml:", "prometheus.yml"},
		{"./targets/${WATCHED:-almanac}.yaml", "./targets/scale.yaml", "does not read targets/almanac.yaml"},
		{"secrets/qdrant_key}", "secrets/qdrant}", "secrets/qdrant"},
		{"start_period: 5m", "start_period: 1h", "not said for 1h0m0s"},
		{"exec ./qdrant", "exec ./entrypoint.sh", "does not wait"},
		{"{subnet: \"${SUBNET:-10.213.17.0/24}\"}", "", "the address of a reverse proxy changes"},
		{"{subnet: \"${SUBNET:-10.213.17.0/24}", "{subnet: \"${SUBNET:-172.20.0.0/16}", "Docker hands out"},
		{"ALMANAC_SERVER_ROLE: reader", "ALMANAC_SERVER_ROLE: follower", "reader1: "},
		{"ALMANAC_LIMIT_REDIS_FILE: /run/secrets/redis_url", "GOGC: \"100\"", "reader1 counts calls alone"},
		{"chown 999:999 /volumes/postgres", "true", "the volume postgres"},
		{"TRUSTED_PROXIES: ${SUBNET:-10.213.17.0/24}", "TRUSTED_PROXIES: 10.9.9.9", "does not trust Caddy"},
		{"TRUSTED_PROXIES: ${ALMANAC_SERVER_TRUSTED_PROXIES:-}", "TRUSTED_PROXIES: 10.213.17.0/24", "chooses his address"},
		{"/data:size=256m,mode=0700,uid=10001,gid=10001", "/data:size=256m,mode=1777", "reader1: /data is not"},
		{"./Caddyfile:/etc", "./Caddy:/etc", "compose/Caddy, which must exist"},
		{",http://qdrant3:6334", "", "writer does not use the node qdrant3"},
	} {
		if !strings.Contains(file, tt.old) {
			t.Errorf("%q is not in compose.yaml", tt.old)
			continue
		}
		p, err := loadCompose(t, []string{strings.Replace(file, tt.old, tt.new, 1)}, nil, "observe", "scale")
		if err != nil {
			t.Errorf("%q: %v", tt.new, err)
			continue
		}
		if got := problems(t, p); !strings.Contains(strings.Join(got, "\n"), tt.want) {
			t.Errorf("%q instead of %q is not found: %q", tt.new, tt.old, got)
		}
	}
}

// loadCompose loads compose.yaml with the given text, and overrides.
func loadCompose(t *testing.T, text []string, env map[string]string, profiles ...string) (*types.Project, error) {
	t.Helper()
	dir, err := filepath.Abs(composeDir)
	if err != nil {
		return nil, err
	}
	var files []types.ConfigFile
	for _, text := range text {
		files = append(files, types.ConfigFile{Filename: filepath.Join(dir, "compose.yaml"), Content: []byte(text)})
	}
	return loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  dir,
		ConfigFiles: files,
		Environment: env,
	}, func(o *loader.Options) {
		o.Profiles = profiles
		o.SkipResolveEnvironment = true // an operator's .env may lie there
	})
}

// TestComposeOverrides loads the overrides that docs/deploy.md shows.
func TestComposeOverrides(t *testing.T) {
	t.Parallel()
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(readText(t, "../docs/deploy.md"), -1)
	if len(examples) == 0 {
		t.Fatal("there are none")
	}
	for _, example := range examples {
		p, err := loadCompose(t, []string{readText(t, "compose.yaml"), example[1]}, nil)
		if err != nil {
			t.Errorf("%v:\n%s", err, example[1])
			continue
		}
		if _, err := configOf(t, environmentOf(t, p.Services["almanac"])); err != nil {
			t.Errorf("%v:\n%s", err, example[1])
		}
	}
}

// problems is all that is wrong with a stack.
func problems(t *testing.T, p *types.Project) (all []string) {
	t.Helper()
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, name := range p.ServiceNames() {
		s := p.Services[name]
		hardened(s, oneShot(p, name), say)
		mounts(p, s, say)
		secrets(t, p, s, say)
	}
	wiring(t, p, say)
	scaled(t, p, say)
	subnet(t, p, say)
	return all
}

// oneShot reports whether a service prepares others and ends.
func oneShot(p *types.Project, name string) bool {
	for _, s := range p.Services {
		if d, ok := s.DependsOn[name]; ok && d.Condition == types.ServiceConditionCompletedSuccessfully {
			return true
		}
	}
	return false
}

// pinned is an image of the usual registry with a full version.
var pinned = regexp.MustCompile(`^([a-z0-9]+(/[a-z0-9_-]+)?:v?\d+\.\d+\.\d+(-[a-z]+)?|postgres:\d+\.\d+)$`)

// hardened checks what holds for every service. Ports are published on loopback
// unless the operator says otherwise.
func hardened(s types.ServiceConfig, oneShot bool, say func(string, ...any)) {
	if !pinned.MatchString(s.Image) {
		say("%s: %s is no name with a full version", s.Name, s.Image)
	}
	if !s.ReadOnly {
		say("%s: can write its root file system", s.Name)
	}
	if !slices.Equal(s.CapDrop, []string{"ALL"}) {
		say("%s: keeps capabilities", s.Name)
	}
	if !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
		say("%s: may gain privileges", s.Name)
	}
	if s.MemLimit <= 0 {
		say("%s: no memory limit", s.Name)
	}
	root := s.User == "" || strings.HasPrefix(s.User, "0") || strings.HasPrefix(s.User, "root")
	if oneShot {
		if s.Restart != "no" || s.NetworkMode != "none" || !slices.Equal(s.CapAdd, []string{"CHOWN"}) {
			say("%s: prepares volumes and may do no more", s.Name)
		}
	} else {
		if root || len(s.CapAdd) > 0 || s.Privileged {
			say("%s: runs as root, or with capabilities", s.Name)
		}
		if h := s.HealthCheck; h == nil || len(h.Test) < 2 || h.Interval == nil || h.Timeout == nil {
			say("%s: no health check", s.Name)
		}
		if h := s.HealthCheck; h != nil && h.StartPeriod != nil && time.Duration(*h.StartPeriod) > 10*time.Minute {
			say("%s: that it is not healthy is not said for %v", s.Name, time.Duration(*h.StartPeriod))
		}
		if strings.Contains(strings.Join(s.Command, "\n"), "exec ./entrypoint.sh") {
			say("%s: the image's script does not wait until the server has stopped", s.Name)
		}
		if s.Restart != "unless-stopped" {
			say("%s: does not start again", s.Name)
		}
	}
	published := map[string][]uint32{"almanac": {8080, 8081}, "grafana": {3000}, "caddy": {8080, 8081}}
	for _, port := range s.Ports {
		if !slices.Contains(published[s.Name], port.Target) {
			say("%s: publishes port %d", s.Name, port.Target)
		}
		if ip := net.ParseIP(port.HostIP); ip == nil || !ip.IsLoopback() {
			say("%s: port %d is not on loopback", s.Name, port.Target)
		}
	}
}

// mounts checks that files which are mounted exist, and that the volume of a
// service is given to its user.
func mounts(p *types.Project, s types.ServiceConfig, say func(string, ...any)) {
	for _, v := range s.Volumes {
		switch {
		case v.Type == types.VolumeTypeBind:
			if _, err := os.Stat(v.Source); err != nil || !v.ReadOnly {
				say("%s: mounts %s, which must exist and be read only: %v", s.Name, v.Source, err)
			}
		// images of the profile observe prepare theirs
		case v.Type == types.VolumeTypeVolume && !slices.Contains(s.Profiles, "observe") && !oneShot(p, s.Name):
			owner := regexp.MustCompile(`chown ` + s.User + `( /\S+)* /volumes/` + v.Source + `\b`)
			if !owner.MatchString(strings.Join(slices.Concat(p.Services["volumes"].Command,
				p.Services["volumes-scale"].Command), "\n")) {
				say("%s: the volume %s is not given to user %s", s.Name, v.Source, s.User)
			}
		}
	}
}

var secretPath = regexp.MustCompile(`/run/secrets/(\w+)`)

// secrets checks that a service has the secrets that it reads, and those only;
// and that `make up` makes their files.
func secrets(t *testing.T, p *types.Project, s types.ServiceConfig, say func(string, ...any)) {
	t.Helper()
	text := strings.Join(slices.Concat(s.Entrypoint, s.Command), "\n")
	for _, v := range s.Environment {
		if v != nil {
			text += "\n" + *v
		}
	}
	for _, v := range s.Volumes {
		if data, err := os.ReadFile(v.Source); v.Type == types.VolumeTypeBind && err == nil {
			text += "\n" + string(data)
		}
	}
	read := map[string]bool{}
	for _, m := range secretPath.FindAllStringSubmatch(text, -1) {
		read[m[1]] = true
	}
	has := map[string]bool{}
	made := regexp.MustCompile(`for name in (.*); do`).FindStringSubmatch(readText(t, "../Makefile"))
	for _, secret := range s.Secrets {
		has[secret.Source] = true
		file := p.Secrets[secret.Source].File
		if len(made) == 0 || !slices.Contains(strings.Fields(made[1]), secret.Source) ||
			!strings.HasSuffix(file, filepath.Join("compose", "secrets", secret.Source)) {
			say("%s: nothing makes the secret %s in %s", s.Name, secret.Source, file)
		}
	}
	if !maps.Equal(read, has) {
		say("%s: reads the secrets %v and has %v", s.Name, slices.Sorted(maps.Keys(read)),
			slices.Sorted(maps.Keys(has)))
	}
}

// wiring checks the program's own service: its settings, and what the others
// and the image say of it.
func wiring(t *testing.T, p *types.Project, say func(string, ...any)) {
	t.Helper()
	s, image := p.Services["almanac"], dockerfile(t)
	if s.Image != "almanac:"+release {
		say("the image %s is not of this version, %s", s.Image, release)
	}
	c, err := configOf(t, environmentOf(t, s))
	if err != nil {
		say("almanac: %v", err)
		return
	}
	for _, name := range []string{"meilisearch", "qdrant", "ollama"} {
		if d := s.DependsOn[name]; d.Condition != types.ServiceConditionHealthy || d.Required {
			say("almanac waits until %s is healthy, and does without it if it is not: %+v", name, d)
		}
	}
	if len(s.Volumes) != 1 || s.Volumes[0].Target != c.Data.Dir {
		say("the data is in %s, the volume elsewhere: %v", c.Data.Dir, s.Volumes)
	}
	if s.User != image.user {
		say("almanac runs as %s, and its image is for %s", s.User, image.user)
	}
	for i, listen := range []string{c.Server.Listen, c.Server.Admin} {
		if port := fmt.Sprint(s.Ports[i].Target); !strings.HasSuffix(listen, ":"+port) {
			say("port %s is published, %s listened on", port, listen)
		}
	}
	for _, command := range [][]string{slices.Concat(image.entrypoint, image.cmd), s.HealthCheck.Test[1:],
		image.health} {
		parser, _, err := newParser(&cli{}, t.Output(), t.Output())
		if err == nil {
			_, err = parser.Parse(command[1:])
		}
		if err != nil || command[0] != "/almanac" {
			say("%q cannot be run: %v", command, err)
		}
	}
	watched(t, p, c.Server.Admin, say)
}

// watched checks that Prometheus reads the admin listener of every server of a stack.
func watched(t *testing.T, p *types.Project, admin string, say func(string, ...any)) {
	t.Helper()
	mounted := slices.ContainsFunc(p.Services["prometheus"].Volumes, func(v types.ServiceVolumeConfig) bool {
		return filepath.Base(v.Source) == "almanac.yaml" && strings.Contains(readText(t, "prometheus.yaml"), v.Target)
	})
	if _, ok := p.Services["prometheus"]; ok && !mounted {
		say("Prometheus does not read targets/almanac.yaml")
	}
	for stack, servers := range map[string][]string{"almanac": {"almanac"}, "scale": {"writer", "reader1", "reader2"}} {
		var groups []struct{ Targets []string }
		if err := yaml.Unmarshal([]byte(readText(t, "targets/"+stack+".yaml")), &groups); err != nil || len(groups) != 1 {
			say("targets of %s: %v, %v", stack, groups, err)
			continue
		}
		for i, server := range servers {
			if all := groups[0].Targets; len(all) != len(servers) || all[i] != server+admin {
				say("Prometheus reads %v, and the admin listener is %s%s", all, server, admin)
			}
		}
	}
}

// scaled checks the servers of the profile scale, and what is between them.
func scaled(t *testing.T, p *types.Project, say func(string, ...any)) {
	t.Helper()
	caddy, ok := p.Services["caddy"]
	if !ok {
		return
	}
	front := readText(t, "Caddyfile")
	for _, m := range regexp.MustCompile(`trusted_proxies (.*)`).FindAllStringSubmatch(front, -1) {
		if said := caddy.Environment["TRUSTED_PROXIES"]; m[1] != "{$TRUSTED_PROXIES}" || said == nil || *said != "" {
			say("who calls Caddy chooses his address: it trusts %s", m[1])
		}
	}
	for name, role := range map[string]string{"writer": "auto", "reader1": config.RoleReader,
		"reader2": config.RoleReader} {
		s := p.Services[name]
		c, err := configOf(t, environmentOf(t, s))
		if err != nil {
			say("%s: %v", name, err)
			continue
		}
		if c.Server.Role != role || c.Catalog.URL == "" {
			say("%s has the role %s and the catalog %q", name, c.Server.Role, c.Catalog.URL)
		}
		if c.Limit.Redis == "" {
			say("%s counts calls alone", name)
		}
		for _, mount := range s.Tmpfs { // a runc before 1.1.8 gives it the mode of the image's directory
			path, options, _ := strings.Cut(mount, ":")
			if uid, gid, _ := strings.Cut(s.User, ":"); path == c.Data.Dir &&
				!strings.HasSuffix(options, fmt.Sprintf(",mode=0700,uid=%s,gid=%s", uid, gid)) {
				say("%s: %s is not the directory of user %s alone: %s", name, path, s.User, options)
			}
		}
		for _, node := range []string{"qdrant1", "qdrant2", "qdrant3"} {
			if !strings.Contains(c.Vector.URL, "//"+node+":") || c.Vector.Replicas < 2 {
				say("%s does not use the node %s, or has %d replicas", name, node, c.Vector.Replicas)
			}
		}
		if pools := p.Networks["default"].Ipam.Config; len(pools) == 1 &&
			!slices.Contains(c.Server.TrustedProxies, pools[0].Subnet) {
			say("%s does not trust Caddy", name)
		}
		if !strings.Contains(front, " "+name+c.Server.Listen) || caddy.DependsOn[name].Condition == "" {
			say("Caddy does not pass requests to %s", name)
		}
	}
}

// subnet checks that a reverse proxy on the host has one address, outside the
// ranges that Docker gives to networks that name none, and that the texts name it.
func subnet(t *testing.T, p *types.Project, say func(string, ...any)) {
	t.Helper()
	pools := p.Networks["default"].Ipam.Config
	if len(pools) != 1 || pools[0] == nil || pools[0].Subnet == "" {
		say("the address of a reverse proxy changes with the network: %v", pools)
		return
	}
	network, err := netip.ParsePrefix(pools[0].Subnet)
	if err != nil {
		say("subnet: %v", err)
		return
	}
	for _, pool := range []string{"172.16.0.0/12", "192.168.0.0/16"} {
		if netip.MustParsePrefix(pool).Overlaps(network) {
			say("Docker hands out %s, of which the network takes %v", pool, network)
		}
	}
	line := "ALMANAC_SERVER_TRUSTED_PROXIES=" + network.Masked().Addr().Next().String()
	for _, name := range []string{"env.example", "../docs/deploy.md"} {
		if !strings.Contains(readText(t, name), line) {
			say("%s does not say %s", name, line)
		}
	}
}

// environmentOf is the environment of the program's container.
func environmentOf(t *testing.T, s types.ServiceConfig) map[string]string {
	t.Helper()
	env := dockerfile(t).env
	for name, v := range s.Environment {
		if v != nil {
			env[name] = *v
		}
	}
	return env
}

// configOf is what the program makes of an environment in which every secret
// is there.
func configOf(t *testing.T, env map[string]string) (config.Config, error) {
	t.Helper()
	known := config.Variables()
	var environ []string
	dir := t.TempDir()
	secret := func(path string) string {
		text := map[string]string{"catalog_url": "postgres://almanac:s3cret@postgres/almanac",
			"redis_url": "redis://:s3cret@redis/0"}[filepath.Base(path)]
		file := filepath.Join(dir, filepath.Base(path))
		writeFile(t, file, cmp.Or(text, "s3cret")+"\n")
		return file
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if strings.HasPrefix(name, config.EnvPrefix) && !slices.Contains(known, name) {
			return config.Config{}, fmt.Errorf("%s is not a setting", name)
		}
		environ = append(environ, name+"="+secretPath.ReplaceAllStringFunc(env[name], secret))
	}
	c, _, err := config.Load("", environ, nil)
	return c, err
}

// containerImage is what a Dockerfile says of its last stage.
type containerImage struct {
	env                     map[string]string
	user                    string
	entrypoint, cmd, health []string
	from                    []string // of all stages
}

func dockerfile(t *testing.T) containerImage {
	t.Helper()
	i := containerImage{env: map[string]string{}}
	list := func(text string) (words []string) {
		if err := json.Unmarshal([]byte(text), &words); err != nil {
			t.Fatalf("Dockerfile: %s: %v", text, err)
		}
		return words
	}
	for line := range strings.Lines(strings.ReplaceAll(readText(t, "Dockerfile"), "\\\n", " ")) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch instruction {
		case "FROM":
			i.from = append(i.from, rest)
		case "USER":
			i.user = rest
		case "ENV":
			for _, pair := range strings.Fields(rest) {
				name, value, _ := strings.Cut(pair, "=")
				i.env[name] = value
			}
		case "ENTRYPOINT":
			i.entrypoint = list(rest)
		case "CMD":
			i.cmd = list(rest)
		case "HEALTHCHECK":
			_, command, _ := strings.Cut(rest, "CMD ")
			i.health = list(command)
		}
	}
	return i
}

func TestDockerfile(t *testing.T) {
	t.Parallel()
	i := dockerfile(t)
	c, err := configOf(t, i.env)
	if err != nil || c.Server.Listen != ":8080" || c.Data.Dir != "/data" {
		t.Errorf("%v: %s %s", err, c.Server.Listen, c.Data.Dir)
	}
	if i.user != "10001:10001" {
		t.Errorf("runs as %q", i.user)
	}
	if len(i.from) != 2 || !regexp.MustCompile(
		`^--platform=\$BUILDPLATFORM golang:\d+\.\d+\.\d+-\w+ AS build$`).MatchString(i.from[0]) ||
		i.from[1] != "$BASE" {
		t.Errorf("stages %q", i.from)
	}
	if !strings.Contains(readText(t, "Dockerfile"), "\nARG BASE=scratch\n") {
		t.Error("the image contains more than the program by default")
	}
}

// exampleEnv returns the lines of env.example that are not comments.
func exampleEnv(t *testing.T) map[string]string {
	t.Helper()
	env := map[string]string{}
	for line := range strings.Lines(readText(t, "env.example")) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			env[name] = value
		}
	}
	return env
}

// TestEnvExample: each variable is a setting or one of compose.yaml's, all of
// those are there, and the values outside comments are the defaults.
func TestEnvExample(t *testing.T) {
	t.Parallel()
	file := readText(t, "compose.yaml")
	used := map[string]bool{"COMPOSE_PROFILES": true}
	for _, m := range regexp.MustCompile(`\$\{([A-Z_]+)`).FindAllStringSubmatch(file, -1) {
		used[m[1]] = true
	}
	shown, set := map[string]bool{}, map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^#?([A-Z][A-Z_]+)=(.*)$`).FindAllStringSubmatch(readText(t,
		"env.example"), -1) {
		shown[m[1]] = true
		switch {
		case strings.HasPrefix(m[1], config.EnvPrefix):
			set[m[1]] = m[2]
		case !used[m[1]]:
			t.Errorf("nothing reads %s", m[1])
		}
	}
	set["ALMANAC_EMBED_URL"] = "http://ollama:11434" // compose.yaml's, which has the model
	if _, err := configOf(t, set); err != nil || len(set) == 1 {
		t.Errorf("settings %v: %v", set, err)
	}
	for name := range used {
		if !shown[name] {
			t.Errorf("%s is not in env.example", name)
		}
	}
	stack := func(env map[string]string) string {
		p, err := loadCompose(t, []string{file}, env, "observe")
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.MarshalYAML()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if stack(nil) != stack(exampleEnv(t)) {
		t.Error("env.example without changes makes another stack than none")
	}
}

// TestComposeFilesParse: every file of the folder is what its name says.
func TestComposeFilesParse(t *testing.T) {
	t.Parallel()
	for _, name := range filesBelow(t, ".", ".yaml") {
		var v any
		if err := yaml.Unmarshal([]byte(readText(t, name)), &v); err != nil || v == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !strings.Contains(readText(t, "grafana/provisioning/dashboards/almanac.yaml"),
		"path: /etc/grafana/dashboards\n") {
		t.Error("Grafana looks for dashboards where none are mounted")
	}
}

func filesBelow(t *testing.T, dir, ext string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(composeDir), dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(name) == ext {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v: %v", dir, names, err)
	}
	return names
}

// readText reads a file of the compose folder.
func readText(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(composeDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
