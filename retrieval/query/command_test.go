package query_test

import (
	"slices"
	"strings"
	"testing"

	"almanac/retrieval/analysis"
	"almanac/retrieval/query"
)

// What a pasted command line says is looked for, with every option in it.
func TestOptionsOfACommandAreText(t *testing.T) {
	for _, raw := range []string{
		"tar -xvf snapshot", "tar -xvf", "TAR -zxf backup.tgz -C data", "how do I unpack the snapshot with tar -xvf",
		"java -jar keeper -Xmx4g", "java -XX:+UseG1GC -jar keeper", "keeper does not start -Xmx4g", "keeper -Xss512k",
		"java -javaagent:probe.jar -jar keeper", "mvn package -DskipTests", "java -cp keeper.jar -Dkey=1",
		"docker run -rm", "docker run --rm -it alpine", "docker run -dp 80:80 -name keeper", "docker ps -qa",
		"docker exec -ti keeper sh -lc env", "docker run -v data:/data -rm keeper", "podman run -rm keeper",
		"rm -rf hold", "rm -fr hold", "cp -afn from to", "mkdir -pv data", "chown -Rv keeper data", "ln -sfn old new",
		"git commit -m", "git commit -am wip", "git clean -fdx", "git log -p -name", "git branch -vv",
		"cargo build --release", "cargo test --release -vv", "curl -s -o out -sSL", "curl -fsSL get.example",
		"curl -XPOST localhost", "curl -sk localhost", "wget -qO- get.example", "wget -nc get.example",
		"grep -v foo", "grep -rn foo", "ps -ef", "ps -aux | grep keeper", "ls -lart", "ls -la", "du -sh", "df -Th",
		"kill -HUP keeper", "netstat -tulpn", "ss -lntp", "lsof -nP", "journalctl -xeu keeper", "tail -fn100 keeper.log",
		"ssh -fNL 5432:db:5432 host", "rsync -avz from to", "rsync -avzP from to", "nc -zv host 443", "top -bn1",
		"find hold -name log -type f", "go test -race", "go build -trimpath -ldflags x", "make -j8", "sort -nrk2",
		"openssl req -newkey rsa -nodes -keyout key.pem -days 365", "openssl x509 -in cert.pem -noout -text",
		"keytool -list -keystore keeper.jks", "terraform apply -auto-approve", "kubectl get pods -owide",
		"kubectl exec -it keeper bash", "pip install -qr requirements", "npm install -gD keeper", "set -euo pipefail",
		"./keeper -debug", "keeper --config a.conf -verbose", "keeper -c a.conf -verbose", "keeper -vvv -debug",
		"keeper -debug 2>&1", "keeper start && keeper -debug", "sudo keeper -debug",
		"ffmpeg -i in.mp4 -vcodec copy", "vault server -dev", "bitcoind -daemon -regtest", "convert -resize 50 a",
		"javap -verbose Keeper", "geth -syncmode fast", "keeper.exe -debug", "keeper.sh -debug", "python keeper.py -debug",
		"Get-Content -Tail 20 keeper.log", "how do I use Get-ChildItem -Recurse", "Invoke-WebRequest -Uri x -OutFile y",
		"$ keeper -debug", "# keeper -debug", "ann@pier:~$ keeper -debug", `PS C:\> keeper -debug`,
		`C:\keeper> keeper -debug`,
		"flag provided but not defined: -tlsx", "unknown option -tlsx", "Unrecognized flag: -tlsx", "Invalid switch -tlsx",
		"error: balance is -inf", "error: unexpected value -32000", "error: -inf",
	} {
		t.Run(raw, func(t *testing.T) {
			q := parse(t, raw)
			if len(q.Exclude) > 0 {
				t.Errorf("leaves out %s", quoted(q.Exclude, " "))
			}
			for _, token := range analysis.Analyze(raw) {
				if !slices.ContainsFunc(q.Terms, func(x query.Term) bool { return x.Text == token.Term }) {
					t.Errorf("does not look for %s", token.Term)
				}
			}
		})
	}
}

// Whoever writes a hyphen before a word that is no option leaves it out,
// whatever else the query is about.
func TestAWordBehindAHyphenIsLeftOut(t *testing.T) {
	for raw, want := range map[string]string{
		"traffic -price": "price", "snapshot -tar": "tar", "-docker install the keeper": "docker",
		"docker -kubernetes": "kubernet", "docker -aws": "aws", "docker -api": "api", "docker -wallet": "wallet",
		"docker -mail": "mail", "docker compose -helm": "helm", "git -github": "github", "git -svn": "svn",
		"java -javascript": "javascript", "java client -python": "python", "go -rust": "rust", "go sdk -java": "java",
		"npm install -yarn": "yarn", "node -npm": "npm", "kubectl -gke": "gke", "terraform -pulumi": "pulumi",
		"find expert -wallet": "wallet", "make payments -fee": "fee", "sort order -price": "price",
		"C# client -java": "java", "node.js client -express": "express", "Cross-Chain swaps -bridge": "bridg",
		"Add-On -price": "price", "Start-Up grants -loan": "loan", "convert coins -fee": "fee", "vault -token": "token",
		"curl -wget": "wget", "tar -zip": "zip", "openssl -gnutls": "gnutl", "kill switch -docker": "docker",
		"top validators -small": "small", "set price -usd": "usd", "head office -zug": "zug", "ssh -telnet": "telnet",
		"rollup -L2": "*l2*", "storage -s3": "*s3*", "wallet -sdk -kyc": "sdk kyc",
		"fee -cip-56 -foo_bar": "*cip-56* *foo_bar*",
		"feature flag -docker": "docker", "invalid vote -price": "price", "canton.conf -docker": "docker",
		"node -docker kind:doc": "docker", `"tar -xvf" -docker`: "docker", `"--rm" -docker`: "docker",
		"net/http -gin": "gin", "price in $ -btc": "btc", "a & b -docker": "docker",
	} {
		t.Run(raw, func(t *testing.T) {
			if got := quoted(parse(t, raw).Exclude, " "); got != want {
				t.Errorf("leaves out %q, want %q", got, want)
			}
		})
	}
}

// The value of an option is no phrase; what else is quoted is.
func TestWhatIsQuotedBehindAnOptionIsText(t *testing.T) {
	for raw, want := range map[string]string{
		`git commit -m "mend the pump"`: "", `curl -H "Accept: text/plain" get.example`: "", `grep -rn "pump is dry" .`: "",
		`keeper --label "the pump"`: "", `psql -c "select one" -d "main hold"`: "",
		`"the pump" keeper --label`: "the pump", `git "the pump" -docker`: "the pump",
	} {
		t.Run(raw, func(t *testing.T) {
			q := parse(t, raw)
			if got := quoted(q.Phrases, " | "); got != want {
				t.Errorf("phrases %q, want %q", got, want)
			}
			if got := texts(q.Terms); strings.Contains(raw, "pump") && !strings.Contains(got, "pump") {
				t.Errorf("looks for %s", got)
			}
		})
	}
}
