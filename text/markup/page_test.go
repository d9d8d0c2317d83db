package markup_test

import (
	"flag"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/text/markup"
)

var update = flag.Bool("update", false, "rewrite golden files")

func resolver(fsys fs.FS) func(string) (string, bool) {
	return func(name string) (string, bool) {
		text, err := fs.ReadFile(fsys, name)
		return string(text), err == nil
	}
}

// TestPages reads whole pages; the goldens are what a passage cutter sees.
func TestPages(t *testing.T) {
	tree := os.DirFS("testdata")
	for _, tt := range []struct {
		file, title, description string
		includes                 []string
	}{
		{"pages/guide/anchors.mdx", "Anchors: Overview", "Dropping an anchor: how & when",
			[]string{"snippets/cable.mdx"}},
		{"pages/guide/harbour.rst", "Harbours", "", []string{"snippets/tides.rst", "snippets/moor.sh"}},
		{"pages/guide/lights.mediawiki", "Lights of the *outer* pier", "", nil},
	} {
		t.Run(tt.file, func(t *testing.T) {
			text, err := fs.ReadFile(tree, tt.file)
			if err != nil {
				t.Fatal(err)
			}
			p := markup.Parse(markup.Input{Path: tt.file, Text: string(text), Resolve: resolver(tree)})
			if p.Title != tt.title || p.Description != tt.description || p.Stub {
				t.Errorf("title %q, description %q, stub %v; want %q, %q, false", p.Title, p.Description, p.Stub,
					tt.title, tt.description)
			}
			if diff := cmp.Diff(tt.includes, p.Includes); diff != "" {
				t.Errorf("includes (-want +got):\n%s", diff)
			}
			golden := "testdata/" + tt.file + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(p.Body+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v: run with -update", err)
			}
			if diff := cmp.Diff(string(want), p.Body+"\n"); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTitle(t *testing.T) {
	for name, tt := range map[string]struct{ path, text, want string }{
		"front_matter_wins_over_headings": {"a/b.md", "---\ntitle: Sails\n---\n# Rigging",
			"Sails"},
		"first_heading_without_front_matter": {"a/b.md", "text\n\n## Hulls `x`\n", "Hulls x"},
		"heading_links_and_emphasis_are_plain": {"a/b.md", "# **[Hulls](http://h)** of *oak*",
			"Hulls of *oak*"},
		"a_sign_that_belongs_to_the_heading_stays": {"a/b.md", "# Hulls for C# ##\n", "Hulls for C#"},
		"a_heading_inside_a_fence_is_none":         {"a/deck_plan.md", "```\n# no\n```\n", "Deck plan"},
		"the_file_name_is_made_readable":           {"a/steering-gear_v2.md", "text", "Steering gear v2"},
		"an_index_is_called_after_its_directory":   {"ships/schooner/index.rst", "text", "Schooner"},
		"a_readme_is_called_after_its_directory":   {"ships/ketch/README.md", "# Readme\n", "Ketch"},
		"an_index_without_a_directory_is_one":      {"index.rst", "text", "Index"},
		"a_directory_is_spelled_as_the_text_does": {"ships/dry_dock-api/overview.md",
			"# Overview\n\nThe Dry Dock API opens gates.", "Dry Dock API: Overview"},
		"a_file_name_that_says_the_heading_is_enough": {"ships/sail-glossary.rst", "Glossary\n========\n",
			"Sail glossary"},
		"a_number_that_orders_files_goes": {"ships/001-bilges.md", "# Introduction\n",
			"Bilges: Introduction"},
		"an_operation_is_joined_to_its_directory": {"api/tide-table/getTide.md",
			"---\ntitle: getTide\n---\ntext", "Tide table: getTide"},
		"a_word_takes_the_words_of_its_file": {"ops/tug_backup.md", "# Backups\n\nof the TUG",
			"TUG backup"},
		"a_word_is_a_title": {"api/tide-table/tides.md", "# Tides", "Tides"},
		"a_version_with_its_date_in_brackets_is_a_version": {"rel/0-3-0.mdx",
			"---\ntitle: \"0.3.0\"\ndescription: Tug 0.3.0 release notes.\n---\n# 0.3.0 (2031-08-28)",
			"Tug 0.3.0 release notes"},
		"a_structural_directory_is_passed_over": {"ships/howtos/index.md", "# Overview\n",
			"Ships: Overview"},
		"a_generic_heading_is_joined_to_the_file_name": {"ships/keel-laying.rst", "Overview\n========\n",
			"Keel laying: Overview"},
		"a_generic_title_gives_way_to_a_heading_saying_more": {"a/b.md",
			"---\ntitle: Overview\n---\n# Overview of Masts", "Overview of Masts"},
		"a_table_of_contents_is_no_title": {"a/b.md", "# Table of Contents\n\n# Building Boats",
			"Building Boats"},
		"a_version_is_joined_to_its_heading": {"rel/3-5-1.mdx",
			"---\ntitle: \"3.5.1\"\n---\n# Release of Tug 3.5.1", "Release of Tug 3.5.1"},
		"a_version_takes_its_description": {"rel/0-1-0.mdx",
			"---\ntitle: \"0.1.0 — 2031-08-28\"\ndescription: Tug 0.1.0 — 2031-08-28 release notes.\n---\n# 0.1.0 — " +
				"2031-08-28", "Tug 0.1.0 — 2031-08-28 release notes"},
		"a_version_file_without_heading_takes_its_directory": {"release-notes/tug/0.0.1.md", "- first", "Tug: 0.0.1"},
		"a_page_of_many_versions_is_not_called_after_the_last": {"tug/docs/release_notes.rst",
			".. release-notes:: 0.2.0\n\n   x\n\n.. release-notes:: 0.1.0\n\n   y\n", "Tug: Release notes"},
		"an_html_title_counts": {"a/b.html",
			"<html><head><title>Log &amp; Line</title></head><body><h1>X</h1></body></html>", "Log & Line"},
		"an_empty_file_has_a_title": {"x/lead-line.md", "", "Lead line"},
		"broken_yaml_is_read_by_lines": {"a/b.md",
			"---\ntitle: Ropes: knots \"and\" bends\n\tbad: [\n---\ntext", "Ropes: knots \"and\" bends"},
		"unclosed_front_matter_ends_at_the_text": {"a/b.md", "---\ntitle: Blocks\ntags: x\n\n# Other\n", "Blocks"},
		"front_matter_in_toml": {"a/b.md", "+++\ntitle = 'Oars & rowlocks'\nweight = 3\n+++\n# Other",
			"Oars & rowlocks"},
		"broken_toml_is_read_by_lines":         {"a/b.md", "+++\ntitle = \"Oars\"\nx = [\n+++\n# Other", "Oars"},
		"a_title_of_a_table_is_not_the_page's": {"a/b.md", "+++\n[menu]\ntitle = \"Oars\"\n+++\n# Other", "Other"},
		"a_remark_in_front_matter":             {"a/b.md", "---\n# of the site\ntitle: Oars\n---\n# Other", "Oars"},
		"a_rule_is_no_front_matter":            {"a/b.md", "---\n\n# Tackle\n\n---\n", "Tackle"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := markup.Parse(markup.Input{Path: tt.path, Text: tt.text}).Title; got != tt.want {
				t.Errorf("title %q, want %q", got, tt.want)
			}
		})
	}
}

func TestBody(t *testing.T) {
	for name, tt := range map[string]struct{ path, text, want string }{
		"crlf_bom_and_bad_bytes_become_plain_text": {"a.md", "\ufeff# A\r\n\r\nb\xff\x00c\r\n", "# A\n\nb\uFFFDc"},
		"an_unclosed_comment_is_text":              {"a.md", "a <!-- b\nc", "a <!-- b\nc"},
		"a_comment_may_hold_a_fence":               {"a.md", "a <!--\n```\nx\n```\n--> b", "a  b"},
		"comments_in_code_stay": {"a.md", "`<!-- a -->`\n\n```html\n<!-- b -->\n```",
			"`<!-- a -->`\n\n```html\n<!-- b -->\n```"},
		"an_unclosed_fence_runs_to_the_end":      {"a.md", "```go\nx := 1\n# no", "```go\nx := 1\n# no\n```"},
		"a_fence_of_four_keeps_a_fence_of_three": {"a.md", "````\n```\nx\n```\n````", "````\n```\nx\n```\n````"},
		"placeholders_are_no_tags": {"a.md", "run <party-id> of List<T>",
			"run <party-id> of List<T>"},
		"unknown_components_in_markdown_stay": {"a.md", "a Map<String> b", "a Map<String> b"},
		"components_in_markdown_that_end_are_unwrapped": {"a.md",
			"<Steps>\n\n1. Row.\n\n</Steps>\n\n<Callout title=\"Tip\">Heave to.</Callout>\n\nAt <Pier>, " +
				"<Embed url=\"/x\" /> on.",
			"1. Row.\n\n**Tip**\nHeave to.\n\nAt <Pier>,  on."},
		"blanks_around_the_sign_of_an_attribute": {"a.mdx",
			"<Callout title = \"Tip\" icon = {<Badge className=\"x\" />} >Row.</Callout>",
			"**Tip**\nRow."},
		"a_tag_over_lines_goes": {"a.mdx",
			"<Card\n  title=\"T\"\n  href=\"/x\"\n>\nbody\n</Card>", "**T**\n\nbody"},
		"script_and_style_go_with_their_content": {"a.html",
			"<style>p{}</style><p>a</p><script>if (a<b) {}</script><p>b</p>", "a\nb"},
		"rst_title_levels_follow_their_first_use": {"a.rst", "A\n=\n\nB\n===\n\nC\n---\n\nD\n~~~~\n\nE\n----\n",
			"A\n=\n\n# B\n\n## C\n\n### D\n\n## E"},
		"rst_comment_hides_its_block": {"a.rst", ".. hidden\n   too\n\nseen", "seen"},
		"rst_unknown_directive_shows_its_content": {"a.rst", ".. lifebuoy:: Port side\n   :x: y\n\n   Throw *it*.",
			"**Port side**\n\nThrow *it*."},
		"rst_raw_html_is_read_as_html": {"a.rst", ".. raw:: html\n\n   <b>bold</b> text", "bold text"},
		"rst_role_in_a_domain": {"a.rst", "call :py:func:`~sea.depth` or :envvar:`TIDE`",
			"call depth or `TIDE`"},
		"rst_unresolved_include_leaves_nothing": {"a.rst", "x\n\n.. include:: /no/where.rst\n\ny", "x\n\ny"},
		"rst_transition_is_dropped":             {"a.rst", "x\n\n-----\n\ny", "x\n\ny"},
		"plain_text_stays_as_it_is":             {"a.txt", "<b> ..\n\n\n\nnote:: x", "<b> ..\n\nnote:: x"},
		"import_as_a_word_is_text": {"a.mdx", "import the key\nexport it",
			"import the key\nexport it"},
		"a_code_span_needs_one_backtick": {"a.md", "a ``b`` c ``d ` e`` and ` ``",
			"a `b` c ``d ` e`` and ` ``"},
		"code_above_a_rule_is_no_front_matter": {"a.md", "---\n~~~\nx\n~~~\n\n---\na", "---\n\n```\nx\n```\n\n---\na"},
		"a_fence_shows_its_caption": {"a.mdx",
			"```go title=\"Mooring\" {1,2} expandable\nx\n```\n\n``` bash\ny\n```\n\n```json Result\nz\n```",
			"**Mooring**\n\n```go\nx\n```\n\n```bash\ny\n```\n\n**Result**\n\n```json\nz\n```"},
		"a_fence_with_attributes_only_has_no_language": {"a.md", "```{.sh #id}\nx\n```", "```\nx\n```"},
		"what_forbids_a_break_is_plain": {"a.md", "####\u00a0A\u2011b\u00ad c &#8209; d",
			"#### A-b c - d"},
		"rst_a_spaced_colon_pair_leaves_no_colon": {"a.rst", "as follows: ::\n\n  x",
			"as follows:\n\n```\nx\n```"},
		"rst_escapes_go_outside_of_code": {"a.rst", "a \\{id\\} \\* \\ s ``\\{id\\}`` C:\\dir",
			"a {id} * s `\\{id\\}` C:\\dir"},
		"rst_a_value_of_the_build_is_named": {"a.rst", "at |chart_link|, not |x|", "at chart link, not |x|"},
		"rst_a_raw_substitution_is_its_text": {"a.rst",
			".. |chart| raw:: html\n\n   <a href=\"x\">the\n   chart</a>\n\n.. |br| raw:: html\n\n   <br/>\n\nSee " +
				"|chart| |br| now", "See the chart  now"},
		"rst_a_footnote_may_hold_blocks": {"a.rst",
			".. [1]\n   See\n\n   .. image:: x.png\n      :alt: Buoy\n", "[1]\nSee\n\n**Buoy**"},
		"rst_a_table_of_contents_has_no_extensions": {"a.rst", ".. toctree::\n\n   deep_water.rst\n",
			"- [deep water](deep_water.rst)"},
		"a_note_of_docusaurus_is_named": {"a.md", ":::caution[Mind the *squall*]\n\nReef early.\n\n:::\n\n:::tip\nHeave " +
			"to.\n:::\nOn.", "**Caution: Mind the *squall***\n\nReef early.\n\n**Tip:**\nHeave to.\n\nOn."},
		"a_container_without_a_kind_leaves_its_title": {"a.md", "::::: details Click *here*\n::: {.wide}\nx\n:::\n:::::",
			"**Click *here***\n\nx"},
		"a_note_of_a_forge_is_named": {"a.md", "> [!WARNING]\n> Reef early.\n\n> [!tip]- Or heave to\n> x\n\n> [!pier] y",
			"> **Warning:**\n> Reef early.\n\n> **Tip: Or heave to**\n> x\n\n> [!pier] y"},
		"marks_of_notes_in_code_stay": {"a.md", "```\n:::tip\n!!! note\n    x\n> [!TIP]\n```",
			"```\n:::tip\n!!! note\n    x\n> [!TIP]\n```"},
		"notes_and_tabs_of_mkdocs_lose_their_indentation": {"a.md",
			"!!! warning \"Low ebb\"\n    Anchor.\n\n    ??? note inline\n        Deep.\n\n=== \"Sail\"\n\n    ```sh\n    reef " +
				"--two\n    ```\n\n=== \"Oars\"\n\tRow.\n\n!!! note \"\"\n    Bare.\nOn.",
			"**Warning: Low ebb**\nAnchor.\n\n**Note:**\nDeep.\n\n**Sail**\n\n```sh\nreef --two\n```\n\n**Oars**\n" +
				"Row.\n\nBare.\nOn."},
		"exclamations_without_a_text_below_are_text": {"a.md", "!!! ahoy\n\n=== \"x\"\ny", "!!! ahoy\n\n=== \"x\"\ny"},
		"constants_that_a_page_exports_are_put_in": {"a.mdx", "export const latest = '3.1';\nexport const fleet = {\n  " +
			"tug: \"2.0\",\n  'pilot-boat': 7,\n};\nexport const f = () => 1\n\nTug {latest}, {fleet.tug}, {fleet.pilot-boat}, " +
			"{fleet.barge}{other}, `{latest}`.", "Tug 3.1, 2.0, 7, {other}, `{latest}`."},
		"front_matter_in_toml_is_not_text":             {"a.md", "+++\ntitle = \"Oars\"\n[menu.main]\n  parent = \"x\"\n+++\n\nRow.", "Row."},
		"a_text_between_rules_is_text":                 {"a.md", "---\nOne line\n---\nmore", "---\nOne line\n---\nmore"},
		"an_export_without_end_stops_at_an_empty_line": {"a.mdx", "export const a = {\n  b\n\ntext", "text"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, markup.Parse(markup.Input{Path: tt.path, Text: tt.text}).Body); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStub(t *testing.T) {
	prose := strings.Repeat("word ", 30)
	for name, tt := range map[string]struct {
		path, text string
		want       bool
	}{
		"a_title_alone": {"a.md", "# Title", true},
		"a_to_do_list":  {"a.md", "# Title\n\n- [ ] " + prose, true},
		"an_rst_to_do":  {"a.rst", "Title\n=====\n\n.. todo::\n   " + prose, true},
		"a_table_of_contents": {"a.rst", "Title\n=====\n\n.. toctree::\n\n   " +
			strings.Repeat("page\n   ", 40), true},
		"headings_without_text":         {"a.md", strings.Repeat("## "+prose+"\n", 5), true},
		"prose":                         {"a.md", "# Title\n\n" + prose, false},
		"a_page_of_code_says_something": {"a.md", "```\n" + prose + "\n```", false},
		"code_counts_by_identifiers": {"a.md", "# Title\n\n```\n" +
			strings.Repeat("boat.hull_of(keel=oak);", 8) + "\n```", false},
		"a_template":                          {"a/pier_template.md", prose, true},
		"a_file_with_a_number_to_come":        {"a/lip-XXXX.md", prose, true},
		"a_page_about_templates":              {"a/pier-templates.md", prose, false},
		"a_page_that_includes_its_text_is_no": {"a.mdx", "import X from './x.md'\n\n<X />", false},
	} {
		t.Run(name, func(t *testing.T) {
			in := markup.Input{Path: tt.path, Text: tt.text, Resolve: func(string) (string, bool) {
				return prose, true
			}}
			if got := markup.Parse(in).Stub; got != tt.want {
				t.Errorf("stub %v, want %v", got, tt.want)
			}
		})
	}
}

func TestRespell(t *testing.T) {
	for name, tt := range map[string]struct {
		name, text, want string
		found            bool
	}{
		"the_whole_name": {"harbour pilot kit", "We build the Harbour Pilot Kit.", "Harbour Pilot Kit",
			true},
		"written_in_one": {"harbour pilot", "HarbourPilot is a tool. harbourpilot runs.",
			"HarbourPilot", true},
		"with_hyphens":         {"edge data kit", "the Edge-Data Kit", "Edge-Data Kit", true},
		"most_frequent_counts": {"tide api", "TIDE API! Tide API, Tide API", "Tide API", true},
		"not_a_heading_in_capitals": {"tide table",
			"TIDE TABLE\n\nA tide, a tide, a tide; a table, a table, a table.", "Tide table", true},
		"acronyms_alone": {"acme api tool", "an API of APIs", "Acme API tool", false},
		"longest_parts_first": {"acme tide table viewer", "Tide Table of the Tide",
			"Acme Tide Table viewer", false},
		"no_part_of_a_path_or_identifier": {"json file", "see x/JSON/y, JSON_FILE and a.JSON", "Json file", false},
		"hand_written_capitals_stay":      {"IEU Daml Code Helper", "daml code HELPER", "IEU Daml Code Helper", false},
		"a_coined_word_begins_as_it_is":   {"dapp kit", "the dApp kit of dApp kits", "dApp kit", true},
		"an_empty_text":                   {"harbour", "", "Harbour", false},
		"nothing":                         {"", "x", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, found := markup.Respell(tt.name, tt.text); got != tt.want || found != tt.found {
				t.Errorf("%q, %v; want %q, %v", got, found, tt.want, tt.found)
			}
		})
	}
}

func FuzzRespell(f *testing.F) {
	f.Add("harbour pilot kit", "the Harbour-Pilot kit and harbourpilotkit")
	f.Add("a a a", "a a a a a")
	f.Add("x\u212a", "K k")
	f.Fuzz(func(t *testing.T, name, text string) {
		got, _ := markup.Respell(name, text)
		if len(strings.Fields(name)) > 0 && strings.TrimSpace(got) == "" {
			t.Errorf("%q became %q", name, got)
		}
	})
}

// TestIncludes reads pages that put in other files of their tree, or parts of
// them.
func TestIncludes(t *testing.T) {
	files := map[string]string{
		"h/shared/knots.rst":           "badge gull\n\n.. begin\n\nA bowline holds.\n\n.. end\n\nrelease tern\n",
		"h/shared/rows.rst":            "zero\none\ntwo\nthree\nfour\n",
		"h/shared/page.md":             "# Belay\n\nTwo :::turns.\n",
		"h/site/src/parts/splice.mdx":  "---\nx: y\n---\nexport const n = 5;\n\nSplice {n} strands of {props.rope}.\n",
		"h/site/parts/_whip.md":        "Whip the end.\n",
		"h/includes/depth.md":          "---\nx: y\n---\nIt holds {latest} fathoms.\n--8<-- \"deep/er.md\"\n",
		"h/deep/er.md":                 "Deeper.\n--8<-- \"includes/depth.md\"\n",
		"h/docs/.snippets/text/oil.md": "Oil burns.\n",
		"h/code/reef.sh":               "#!/bin/sh\n# --8<-- [start:two]\nreef --two\n# --8<-- [end:two]\nreef --three\n",
	}
	for name, tt := range map[string]struct{ path, text, want string }{
		"rst_between_texts": {"h/docs/a.rst",
			".. include:: ../shared/knots.rst\n   :start-after: begin\n   :end-before: end\n", "A bowline holds."},
		"rst_a_text_that_is_missing_leaves_nothing": {"h/docs/a.rst",
			"x\n\n.. include:: ../shared/knots.rst\n   :start-after: nowhere\n\n.. include:: ../shared/knots.rst\n   " +
				":end-before: nowhere\n\ny", "x\n\ny"},
		"rst_by_lines": {"h/docs/a.rst",
			".. include:: ../shared/rows.rst\n   :start-line: 1\n   :end-line: -3\n", "one\ntwo"},
		"rst_lines_backwards": {"h/docs/a.rst",
			"x\n\n.. include:: ../shared/rows.rst\n   :start-line: 4\n   :end-line: 2\n", "x"},
		"rst_as_code": {"h/docs/a.rst", ".. include:: ../shared/rows.rst\n   :code: Text\n   :end-line: 1\n\n" +
			".. include:: ../shared/rows.rst\n   :literal:\n   :start-line: 4\n", "```text\nzero\n```\n\n```\nfour\n```"},
		"rst_markdown": {"h/docs/a.rst", ".. include:: ../shared/page.md\n   :parser: myst_parser.sphinx_\n\n" +
			".. mdinclude:: ../shared/page.md\n", "# Belay\n\nTwo :::turns.\n\n# Belay\n\nTwo :::turns."},
		"mdx_by_the_alias_of_the_site": {"h/site/docs/a.mdx",
			"import S from '@site/src/parts/splice.mdx'\nimport W from '@site/parts/_whip.md'\n\n<S rope=\"hemp\" />\n<W/>",
			"Splice 5 strands of hemp.\n\nWhip the end."},
		"mdx_by_other_aliases": {"h/site/docs/a.mdx",
			"import S from '~/parts/splice.mdx'\nimport W from '@parts/_whip.md'\nimport N from '@site/none.md'\n\n<W/><S/><N/>",
			"Whip the end.\n\nSplice 5 strands of ."},
		"mkdocs_whole_without_the_page_itself": {"h/docs/a.md", "a\n\n--8<-- \"depth.md\"\n\nb --8<-- c\n;--8<-- \"x\"",
			"a\n\nIt holds {latest} fathoms.\nDeeper.\n\nb --8<-- c\n--8<-- \"x\""},
		"mkdocs_parts_in_code": {"h/docs/a.md", "```sh\n--8<-- \"code/reef.sh:two\"\n```\n\n- a\n\n    ```\n    -8<- " +
			"\"/code/reef.sh:5\"\n    ```\n\n--8<-- \"shared/rows.rst:2:3\"\n--8<-- \"shared/rows.rst::1\"",
			"```sh\nreef --two\n```\n\n- a\n\n```\nreef --three\n```\n\none\ntwo\nzero"},
		"mkdocs_single_quotes_and_a_hidden_directory": {"h/docs/b/c.md", "a\n\n--8<-- 'text/oil.md'", "a\n\nOil burns."},
		"mkdocs_a_block_of_names": {"h/docs/a.md", "--8<--\ndeep/er.md\n; code/reef.sh\n\nnone.md\n--8<--\nz",
			"Deeper.\nIt holds {latest} fathoms.\nz"},
	} {
		t.Run(name, func(t *testing.T) {
			p := markup.Parse(markup.Input{Path: tt.path, Text: tt.text, Resolve: func(n string) (string, bool) {
				text, ok := files[n]
				return text, ok
			}})
			if diff := cmp.Diff(tt.want, p.Body); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

// A page may not grow beyond bounds by what it includes, in circles or by
// many doublings.
func TestIncludesAreBounded(t *testing.T) {
	t.Run("a_circle_ends", func(t *testing.T) {
		files := map[string]string{
			"a.mdx": "import B from './b.mdx'\n\na\n\n<B />",
			"b.mdx": "import A from './a.mdx'\nimport B from './b.mdx'\n\nb\n\n<A /><B />",
		}
		p := markup.Parse(markup.Input{Path: "a.mdx", Text: files["a.mdx"], Resolve: func(n string) (string, bool) {
			s,
				ok := files[n]
			return s, ok
		}})
		if p.Body != "a\n\nb" {
			t.Errorf("body %q", p.Body)
		}
	})
	t.Run("doublings_end", func(t *testing.T) {
		p := markup.Parse(markup.Input{
			Path: "0.rst", Text: strings.Repeat(".. include:: 1.rst\n\n", 100),
			Resolve: func(n string) (string, bool) {
				next := string(n[0] + 1)
				return strings.Repeat("text text text\n\n.. include:: "+next+".rst\n\n", 100), n[0] < '9'
			},
		})
		if len(p.Body) > 8<<20 {
			t.Errorf("%d bytes", len(p.Body))
		}
	})
	t.Run("indentation_counts", func(t *testing.T) {
		p := markup.Parse(markup.Input{
			Path: "a.md", Text: strings.Repeat(" ", 1<<16) + "--8<-- \"b.md\"",
			Resolve: func(n string) (string, bool) { return strings.Repeat("x\n", 1<<16), n == "b.md" },
		})
		if len(p.Body) > 8<<20 {
			t.Errorf("%d bytes", len(p.Body))
		}
	})
	t.Run("a_path_out_of_the_tree_is_not_asked_for", func(t *testing.T) {
		markup.Parse(markup.Input{
			Path: "a/b.rst", Text: ".. include:: ../../../etc/passwd\n\n.. include:: /../x\n\n.. include:: http://h/x\n",
			Resolve: func(n string) (string, bool) {
				if strings.Contains(n, "..") || strings.HasPrefix(n, "/") || strings.Contains(n, ":") {
					t.Errorf("requested %q", n)
				}
				return "", false
			},
		})
	})
}

// hostile texts are read in time linear in their size: BenchmarkHostile tells
// how fast two megabytes of each are.
var hostile = map[string]string{
	"angles": "<", "backticks": "`", "odd_ticks": "` `` ``` ```` ", "tags": "<a ", "quotes": "<a b=\"",
	"braces": "<a {", "expressions": "{a ",
	"comments": "<!--", "jsx_comments": "{/*", "components": "<X>", "spaces": " <X>    ", "code": "<code>",
	"pre": "<pre>", "breaks": "<br>",
	"divs": "<div>", "imports": "import X from './x.mdx'\n<X />", "exports": "export const a = {\n", "fences": "```\n",
	"brackets": "[a](", "headings": "# [\n",
	"directives": ".. a::\n", "nested": ".. a::\n   .. b::\n", "roles": ":a:`b", "literals": "``a", "bars": "|a",
	"unders": "a\n=\n", "overs": "===\n", "includes": ".. include:: x\n",
	"wiki_links": "[[a|", "wiki_addresses": "[https://a ", "wiki_tables": "{|\n|a\nb\n", "wiki_lists": "*#:;",
	"wiki_code": "<code><tt>a</tt>", "wiki_blocks": "<pre>\n</source>\n", "wiki_notes": "<ref>", "quotation": "'''",
	"containers": ":::a\n", "admonitions": "!!! a\n    ", "snippets": "--8<-- \"x\"\n", "members": "{a: 1,",
	"titles": "---\n", "entities": "&lt", "links": "`a <", "csv": ".. csv-table::\n\n   \"a\n",
}

func TestHostileTextIsRead(t *testing.T) {
	for name, piece := range hostile {
		for _, ext := range []string{".md", ".mdx", ".rst", ".mediawiki", ".html"} {
			t.Run(name+ext, func(t *testing.T) {
				text := strings.Repeat(piece, 1+(32<<10)/len(piece))
				markup.Parse(markup.Input{Path: "x" + ext, Text: text, Resolve: func(string) (string, bool) {
					return "x", true
				}})
			})
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, file := range []string{"pages/guide/anchors.mdx", "pages/guide/harbour.rst", "pages/guide/lights.mediawiki"} {
		text, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		for _, ext := range []string{".md", ".mdx", ".rst", ".mediawiki", ".html", ".txt"} {
			f.Add("a/b"+ext, string(text))
		}
	}
	f.Add("x\n\x11\x83\x1c\xba\x8cdx", "[a]([a](")
	f.Add("1.2.3\n(2031-01-01).md", "")
	for _, piece := range hostile {
		f.Add("x.md", strings.Repeat(piece, 20))
		f.Add("x.mdx", strings.Repeat(piece, 20))
		f.Add("x.rst", strings.Repeat(piece, 20))
		f.Add("x.mediawiki", strings.Repeat(piece, 20))
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		p := markup.Parse(markup.Input{Path: name, Text: text, Resolve: func(n string) (string, bool) {
			return text, len(n)%2 == 0
		}})
		if p.Title == "" {
			t.Error("no title")
		}
		if markup.Clean(p.Body) != p.Body {
			t.Errorf("the body is not clean: %q", p.Body)
		}
		if p.Title != strings.TrimSpace(p.Title) || strings.ContainsAny(p.Title, "\n\r") {
			t.Errorf("title %q", p.Title)
		}
	})
}
