package query

import (
	"slices"
	"strings"
)

// isPasted reports whether the words outside of quotes are a command line or the
// output of a program: one of them is an option that cannot be meant as an exclusion,
// or has a meaning for shells only, or the first one begins an error message.
func isPasted(words []string) bool {
	var named []string // commands before the word
	program := false   // a word before it is a program whose options nobody knows
	refused := false   // a word before it refuses something, such as unknown
	for i, word := range words {
		switch {
		case i == 0 && (announces(word) || isPrompt(word)), isShell(word), isOption(word):
			return true
		case excludes(word):
			if program || i > 0 && introduces(words[i-1], refused) ||
				slices.ContainsFunc(named, func(command string) bool { return takes(command, word[1:]) }) {
				return true
			}
			continue
		}
		program = program || isProgram(word)
		word = strings.ToLower(word)
		if _, ok := commands[word]; ok && !slices.Contains(named, word) {
			named = append(named, word)
		}
		refused = refused || refuses(word)
	}
	return false
}

// announces reports whether programs begin error messages with the word.
func announces(word string) bool {
	switch strings.ToLower(word) {
	case "error:", "fatal:", "panic:", "exception:", "warning:":
		return true
	}
	return false
}

// refuses reports whether programs use the word of an option that they do not know.
func refuses(word string) bool {
	switch word {
	case "unknown", "unrecognized", "unrecognised", "invalid", "illegal", "unsupported", "unexpected", "bad":
		return true
	}
	return false
}

// introduces reports whether the word stands directly before an option in messages of
// programs: "not defined: -x", or in a refusal "unknown option -x".
func introduces(word string, refused bool) bool {
	switch strings.ToLower(word) {
	case "option", "options", "flag", "flags", "switch", "argument", "parameter":
		return refused
	}
	return strings.HasSuffix(word, ":")
}

// isShell reports whether a word has a meaning for shells only.
func isShell(word string) bool {
	switch word {
	case "|", "||", "&&", ">>", "2>&1", "sudo":
		return true
	}
	return strings.HasPrefix(word, "./") || strings.HasPrefix(word, "~/") || strings.HasPrefix(word, "$(") ||
		strings.HasPrefix(word, "${")
}

// isPrompt reports whether shells write a word before what is typed.
func isPrompt(word string) bool {
	switch word {
	case "$", "#", "%", ">", "PS":
		return true
	}
	end := word[len(word)-1]
	return strings.Contains(word, "@") && (end == '$' || end == '#' || end == '%') ||
		strings.Contains(word, `:\`) && end == '>'
}

// isProgram reports whether a word can only be a program: a file that is executed, or
// a command of PowerShell (Get-Content).
func isProgram(word string) bool {
	if i := strings.LastIndexByte(word, '.'); i > 0 {
		switch strings.ToLower(word[i+1:]) {
		case "exe", "bat", "cmd", "ps1", "sh", "py", "rb", "pl":
			return true
		}
	}
	verb, noun, _ := strings.Cut(word, "-")
	switch verb {
	case "Add", "Clear", "Copy", "Disable", "Enable", "Export", "Find", "Get", "Import", "Install", "Invoke", "Measure",
		"Move", "New", "Out", "Read", "Remove", "Rename", "Resolve", "Restart", "Select", "Set", "Start", "Stop", "Test",
		"Uninstall", "Update", "Wait", "Write":
		return len(noun) > 3 && 'A' <= noun[0] && noun[0] <= 'Z' && !strings.Contains(noun, "-")
	}
	return false
}

// isOption reports whether a word is an option of any command: --name, one
// letter, one for more messages (-vv), an assignment, or a name and a size
// (-Xmx4g).
func isOption(word string) bool {
	if name, ok := strings.CutPrefix(word, "--"); ok {
		return name != "" && isLetter(name[0])
	}
	name, ok := strings.CutPrefix(word, "-")
	if !ok || name == "" || !isLetter(name[0]) {
		return false
	}
	return len(name) == 1 || strings.Trim(name, "v") == "" || strings.IndexByte(name, '=') > 0 ||
		strings.HasPrefix(name, "XX:") || hasSize(name)
}

// hasSize reports whether a name is letters, digits and a unit of memory.
func hasSize(name string) bool {
	digits := strings.TrimRight(name, "kmgKMG")
	letters := strings.TrimRight(digits, "0123456789")
	for i := range len(letters) {
		if !isLetter(letters[i]) {
			return false
		}
	}
	return len(digits) < len(name) && len(letters) < len(digits)
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// isValue reports whether what follows some words is the value of an option.
func isValue(words []string) bool {
	return len(words) > 0 && len(words[len(words)-1]) > 1 && words[len(words)-1][0] == '-'
}

// takes reports whether a command has an option that is written so: as a word,
// possibly with a value after a colon, or as a cluster of one-letter options, possibly
// with a number at its end.
func takes(command, option string) bool {
	name, _, _ := strings.Cut(option, ":")
	cluster := strings.TrimRight(option, "0123456789-")
	for known := range strings.FieldsSeq(commands[command]) {
		letters, ok := strings.CutPrefix(known, "-")
		if ok && consists(cluster, letters) || known == name {
			return true
		}
	}
	return false
}

// consists reports whether a cluster has only the given letters, each at most once.
func consists(cluster, letters string) bool {
	for i := range len(cluster) {
		if strings.IndexByte(letters, cluster[i]) < 0 || strings.IndexByte(cluster[:i], cluster[i]) >= 0 {
			return false
		}
	}
	return cluster != ""
}

// commands maps commands whose options people write with one hyphen and several
// letters to these: words, and after a hyphen the letters that are written together.
// Only common letters are listed: with all of them many ordinary words would count as
// options.
var commands = func() map[string]string {
	all := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(strings.ReplaceAll(optionsOf, "\n  ", " ")), "\n") {
		names, options, _ := strings.Cut(line, ": ")
		for name := range strings.SplitSeq(names, ",") {
			all[name] = options
		}
	}
	return all
}()

// A line that begins with spaces continues the one before.
const optionsOf = `
apt,apt-get,yum,dnf,apk: -yq
bash,sh,zsh: -lcxeu
bitcoind,bitcoin-cli: daemon regtest testnet signet datadir printtoconsole reindex txindex rpcwallet named
cargo: -vq
chmod,chown,chgrp: -Rvf
cmake: -GSB
consul,nomad,vault: dev config
convert,magick,mogrify: resize crop rotate quality density strip resample geometry
cp: -afiLnrRuvP rp pr
curl: -fgikosvILOSX XPOST XGET XPUT XDELETE XPATCH XHEAD
df: -hTi
docker,podman,nerdctl: -adfiqt dp itp rm name
du: -shacd
ffmpeg,ffprobe,ffplay: vcodec acodec codec vf af filter_complex map loglevel hide_banner ss to vn an crf preset
find: name iname type exec execdir mtime mmin ctime newer size path ipath regex user group perm empty delete
  print print0 prune maxdepth mindepth
gcc,g++,cc,clang,clang++: -gcSO Wall Wextra Werror fPIC pedantic shared static lpthread lm
git: -adfmqsuvx sb uno
go: -vx race run tags trimpath ldflags gcflags bench benchmem benchtime coverprofile fuzztime modfile
geth: dev syncmode datadir http port mine
gpg: -abdeqr
grep,egrep,fgrep,zgrep,rg: -cEFhHiIlLnoPqrRvwABC
gzip,gunzip,xz,zstd,bzip2: -cdfkvT
head,tail: -fqcn
java: jar cp classpath version showversion ea da verbose agentlib javaagent
javap: verbose public protected package private
javac,kotlinc,scalac: cp classpath d source target include-runtime
journalctl: -befkunrx
jq: -cerMnsS
keytool: genkey genkeypair alias keystore storepass storetype keypass list import importcert importkeystore export
  exportcert file keyalg keysize noprompt srckeystore destkeystore printcert rfc validity dname
kill,pkill,killall: KILL TERM HUP INT QUIT STOP CONT USR1 USR2 SIGKILL SIGTERM SIGHUP SIGINT f
kubectl,oc: -itA owide ojson oyaml oname
ln: -fnsv
ls: -aAdFhilrRSt1
lsof: -inPUptu
make: -jkBsC
mkdir: -pvm
mount,umount: -lfo
mv: -finuv
mvn: -BqUXeo DskipTests am amd pl
mysql,mysqldump: -uph
nc,ncat,netcat: -klnuvwz
netstat,ss: -aelnprtu
nmap: sn sS sT sU sV Pn p oN oX
npm,pnpm,yarn: -gDES
openssl: in out noout text subj subject issuer dates days nodes newkey x509 key keyout CA CAkey CAcreateserial
  CAfile passin passout connect servername showcerts inform outform pubkey pubin pubout req new sha256 sha512 aes256
  export inkey certfile config extensions enddate modulus fingerprint name
perl: -nepil
ping: -cn
pip,pip3: -qrU
ps: -aAefuxlwT
psql,pg_dump,pg_restore: -AcdFfhqtUWx
python,python3: -BEImOsSuc
rm,rmdir,shred: -dfirRv
rsync: -aAcHhnPrtuvXz
scp,sftp: -rpvCPq
screen,tmux: -dmSR ls
sed: -Einr
set: e ex eux euo euxo
sort: -bhkrnu
ssh,autossh: -AfLNRTtvX
tar,bsdtar: -cCfhjJkmpPrtuvxzZ
tcpdump: -AinvX
terraform,tofu: auto-approve target var var-file out destroy lock upgrade reconfigure migrate-state backend-config
  chdir input json
top,htop: -bHn
uname: -amnrs
uniq: -cdiu
unzip,zip: -jloqrvy
useradd,usermod: -aGmrs
watch: -dn
wc: -clmw
wget: -cnNOqrS nv nc nd
xargs: -IinPrt
`
