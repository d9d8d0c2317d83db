package web

// recipe is a page that answers "how do I …" by calls of tools, which are made when it is
// opened.
type recipe struct {
	slug    string
	title   string
	when    string // it helps, in two or three sentences
	subject subject
	steps   []step

	origins []origin // of its subject, compiled
	calls   []call   // the steps, compiled
}

// subject is what a recipe is about, {q} in its arguments: the reader names it. Until then
// it is the first value that one of these finds in what the network has.
type subject struct {
	label string // "" = the recipe is about nothing in particular
	of    []source
}

// source is a value in an answer, at a path such as items.0.id.
type source struct{ op, args, at string }

// step is a call of a tool with its arguments in words, as an ask has them, and what it is
// for. {1.items.0.id} stands for a value in the answer of the first step.
type step struct{ op, args, why string }

// What recipes are about as long as nobody says it.
var (
	lastProposal  = source{"list_records", "kind=cip order=activity limit=1", "items.0.key"}
	lastFinal     = source{"list_records", "kind=cip state=Final order=activity limit=1", "items.0.key"}
	lastProposed  = source{"list_records", "kind=cip order=activity limit=1", "items.0.title"}
	lastDecided   = source{"list_records", "kind=cip state=Final order=activity limit=1", "items.0.title"}
	mostRead      = source{"get_trending", "", "items.0.title"}
	lastDoc       = source{"list_records", "kind=doc order=activity limit=1", "items.0.title"}
	lastIssue     = source{"list_records", "kind=issue order=activity limit=1", "items.0.title"}
	lastGrant     = source{"list_records", "kind=proposal order=activity limit=1", "items.0.title"}
	aProject      = source{"list_records", "kind=project order=title limit=1", "items.0.title"}
	aBackground   = source{"list_records", "kind=onboarding order=title limit=1", "items.0.title"}
	aConcept      = source{"list_records", "kind=evm_mapping order=title limit=1", "items.0.title"}
	aTalk         = source{"list_records", "kind=video order=created limit=1", "items.0.title"}
	aDeprecation  = source{"list_deprecations", "", "items.0.title"}
	aProgram      = source{"get_current_versions", "", "toolchain.0.name"}
	aValidator    = source{"list_records", "kind=validator order=title limit=1", "items.0.title"}
	aProposal     = subject{"Proposal", []source{lastFinal, lastProposal}}
	aTopic        = subject{"Topic", []source{lastDecided, lastProposed, mostRead, lastDoc}}
	aFeature      = subject{"Feature", []source{lastDecided, lastProposed, lastDoc}}
	whatIsAsked   = subject{"Question", []source{mostRead, lastProposed, lastDoc}}
	aDeprecated   = subject{"Name", []source{aDeprecation}}
	aNamedProject = subject{"Project", []source{aProject}}
)

// recipes are in the order in which people see them.
var recipes = []recipe{
	{
		slug: "in-force", title: "How do I find out whether a proposal is in force?",
		when: "A number alone does not say what became of a proposal. This reads its status, the day it got it, and " +
			"whether anything was built since: a proposal can be decided and not done.",
		subject: aProposal,
		steps: []step{
			{"get_cip", "id={q}", "Read its status: in force is what is decided and not replaced by another."},
			{"get_cip_history", "id={q}", "See when it got there, and by which change."},
			{"get_cip_implementation_status", "cip_number={q}", "Look for what carries it out: releases, code, grants."},
		},
	},
	{
		slug: "this-week", title: "How do I see what changed this week?",
		when: "For somebody who comes back after some days, or reports every Friday. The stream has what is new and " +
			"which proposals changed their status; beside it stands what people talk about most.",
		steps: []step{
			{"get_recent_changes", "days=7 limit=10", "List what is new, newest first."},
			{"get_trending", "", "See what is read and written about most."},
		},
	},
	{
		slug: "whom-to-ask", title: "How do I find whom to ask about a topic?",
		when: "Before a question is posted to everybody. People are ranked by what they wrote, answered and merged on " +
			"the topic, and each comes with the posts that speak for it.",
		subject: aTopic,
		steps: []step{
			{"find_expert", "topic={q} limit=4", "Rank who knows the topic, with the evidence."},
			{"find_maintainer_guidance", "topic={q}", "Read what maintainers wrote about it already."},
			{"search_community", "query={q} limit=2", "Hear the others: forum, mail, blog and forge."},
		},
	},
	{
		slug: "promised-and-released", title: "How do I compare what a document promises with what was released?",
		when: "Documents are written ahead of the software and are not always corrected after it. This sets what they " +
			"say of a feature beside the notes of the releases, and lists the values on which sources disagree.",
		subject: aFeature,
		steps: []step{
			{"search", "q={q} type=doc limit=5", "Find what documents say of it."},
			{"search_release_notes", "feature={q}", "Find the releases whose notes name it."},
			{"detect_drift", "topic={q}", "List versions, ports and names on which sources differ."},
		},
	},
	{
		slug: "prepare-upgrade", title: "How do I prepare an upgrade?",
		when: "For an operator before the next window. It says what runs where, what an environment asks for and what " +
			"breaks on the way, and which dates and warnings there are.",
		steps: []step{
			{"get_current_versions", "", "See the latest versions and what runs in each environment."},
			{"get_upgrade_status", "environment={1.deployments.0.environment} version={1.deployments.0.version}",
				"Ask for one environment, with the version that runs in it; name yours instead."},
			{"get_upcoming_deadlines", "days=180", "Write down the dates."},
			{"get_radar", "level=critical limit=5", "Read the critical warnings."},
		},
	},
	{
		slug: "which-proposal", title: "How do I find the proposal that specifies a feature?",
		when: "If one knows what it does and not its number. The best match is opened, with the proposals that must be " +
			"final before it.",
		subject: aFeature,
		steps: []step{
			{"find_cip_for_feature", "feature={q}", "Find the proposals that specify or touch it."},
			{"get_cip", "id={1.items.0.id}", "Open the best of them."},
			{"detect_cip_dependency_chain", "cip_id={1.items.0.id}", "See what it needs first."},
		},
	},
	{
		slug: "vote-on-the-ledger", title: "How do I see how a vote on the ledger went?",
		when: "For whoever wants to know who decided what. Closed requests are listed with their outcomes, the latest " +
			"is read with each vote and its reason, and everybody's votes are counted.",
		steps: []step{
			{"list_governance_votes", "status=closed limit=5", "List the requests that are decided."},
			{"get_governance_vote", "tracking_cid={1.items.0.id}", "Read the latest: who voted how, and why."},
			{"list_votes_by_sv", "", "Count the votes of each who may cast one."},
		},
	},
	{
		slug: "answer-with-sources", title: "How do I answer a question with its sources?",
		when: "The usual work of an agent, and of whoever writes an answer to somebody else. Search by meaning, read " +
			"around the best passage, and cite the address of each record that was used.",
		subject: whatIsAsked,
		steps: []step{
			{"semantic_search", "query={q} limit=5", "Find passages by meaning and words."},
			{"get_doc", "id={1.items.0.read}", "Read the section around the best of them."},
			{"full_context", "topic={q} limit_per_source=1", "For a broad question: the best of each kind of content."},
		},
	},
	{
		slug: "error-message", title: "How do I find out what an error message means?",
		when: "Paste the message as it was printed. What explains it comes first, then open problems like it that " +
			"nobody has solved yet, so that one can tell a mistake of one's own from a defect.",
		subject: subject{"Error message", []source{lastIssue}},
		steps: []step{
			{"diagnose_error", "error_text={q}", "Find what explains it."},
			{"find_known_issues", "description={q} limit=3", "See whether others have it and wait."},
			{"search_forge_issues", "query={q} limit=5", "Look through open and closed issues."},
		},
	},
	{
		slug: "replaced-name", title: "How do I find out whether a name is out of use, and what replaces it?",
		when: "For commands, packages, tools and interfaces in a text of some age. It says whether the name is " +
			"deprecated, what to use instead, and which texts still teach the old one.",
		subject: aDeprecated,
		steps: []step{
			{"check_deprecation", "name={q}", "Ask for the verdict."},
			{"migrate_lookup", "query={q}", "Ask for the replacement, and how to install it."},
			{"outdated_guidance_detector", "query={q}", "Find texts that still mention it."},
		},
	},
	{
		slug: "is-it-agreed", title: "How do I find out whether people agree on something?",
		when: "Before a decision is called one. Replies, mails and formal votes are counted into a verdict that names " +
			"what it rests on; then read the voices themselves.",
		subject: aTopic,
		steps: []step{
			{"community_consensus", "topic={q}", "Measure the agreement."},
			{"search_community", "query={q} limit=3", "Read what was said."},
		},
	},
	{
		slug: "said-of-a-proposal", title: "How do I see what is said about a proposal?",
		when: "For its author, and for whoever votes on it. Everything that names the proposal is listed by place, and " +
			"each citation comes with the sentence around it.",
		subject: aProposal,
		steps: []step{
			{"get_cip_mentions", "id={q}", "List what mentions it."},
			{"get_cip_citations", "id={q}", "Read the sentences that cite it."},
		},
	},
	{
		slug: "dates-ahead", title: "How do I see which dates lie ahead?",
		when: "For the calendar of whoever runs a node or plans a release. What is scheduled comes with its " +
			"environment; deadlines are those of them that somebody has to meet.",
		steps: []step{
			{"get_upcoming_operations", "days=45", "List what is scheduled, soonest first."},
			{"get_upcoming_deadlines", "days=180", "List what has to be done, and until when."},
			{"get_radar", "limit=5", "Read the latest warnings, each with its deadline."},
		},
	},
	{
		slug: "validator", title: "How do I look up a validator?",
		when: "To see who it is, which version it reports and how old that report is, and where that version stands " +
			"among those of all others.",
		subject: subject{"Validator", []source{aValidator}},
		steps: []step{
			{"get_validator", "name={q} limit=3", "Find it by its name, or the beginning of its party id."},
			{"get_validator_fleet", "", "Compare with the versions that all report."},
		},
	},
	{
		slug: "grant-idea", title: "How do I check an idea before I apply for a grant?",
		when: "Whoever knows what exists already writes the better proposal. This lists projects and grants that " +
			"resemble the idea, where money went, and what is being decided now.",
		subject: subject{"Idea", []source{lastGrant}},
		steps: []step{
			{"detect_builder_overlap", "idea={q}", "Find projects and grants that are most like it."},
			{"get_funding_landscape", "", "See what is asked for and granted, by label."},
			{"get_proposals", "state=open limit=5", "Read what is open now."},
		},
	},
	{
		slug: "grant-progress", title: "How do I follow a grant?",
		when: "For reviewers and for whoever waits for the result. A grant declares milestones; the issues that are " +
			"linked with it show how far they are.",
		steps: []step{
			{"get_proposals", "state=all limit=5", "List the latest grant proposals."},
			{"get_proposal_milestones", "pr_number={1.items.0.number}", "Read the milestones of one, and its issues."},
		},
	},
	{
		slug: "learn", title: "How do I learn about a topic in a sensible order?",
		when: "If there is more to read than time. It orders a paper, pages, proposals, threads and talks from the " +
			"introduction to the detail, with minutes; frequent questions stand beside them.",
		subject: aTopic,
		steps: []step{
			{"learning_path", "goal={q}", "Ask for a path, with minutes and reasons."},
			{"get_faq", "question={q}", "Read the nearest frequent questions."},
		},
	},
	{
		slug: "first-steps", title: "How do I begin, coming from somewhere else?",
		when: "For a newcomer with a background, and for an agent that helps one: ask for the background first. The " +
			"path has steps, and each names what to read.",
		subject: subject{"Background", []source{aBackground}},
		steps: []step{
			{"get_started_guide", "background={q}", "Ask for the path of that background."},
			{"get_doc", "id={1.steps.0.read.id}", "Open what its first step names."},
		},
	},
	{
		slug: "concept-from-elsewhere", title: "How do I find what takes the place of a concept of EVM chains?",
		when: "A word that is known from there often means something else here, or nothing. This names what takes its " +
			"place, with the differences, and the documentation of it.",
		subject: subject{"Concept", []source{aConcept}},
		steps: []step{
			{"compare_to_evm", "concept={q}", "Ask for what takes its place."},
			{"search", "q={q} type=doc limit=3", "Read on in the documentation."},
		},
	},
	{
		slug: "code-example", title: "How do I find code that does this already?",
		when: "Before one writes it. Blocks of code that people posted come first, then the documentation, then the " +
			"projects that solve something like it.",
		subject: aTopic,
		steps: []step{
			{"find_code_examples", "topic={q} limit=3", "Find code that was posted, accepted answers marked."},
			{"search", "q={q} type=doc limit=3", "Find the documentation of it."},
			{"find_similar_projects", "description={q} limit=3", "Find projects that are like it."},
		},
	},
	{
		slug: "security-fixes", title: "How do I find security fixes that I may have missed?",
		when: "After a pause, and before an audit asks. Releases whose notes speak of security are listed newest " +
			"first, beside the critical warnings with their deadlines.",
		steps: []step{
			{"find_security_patches", "limit=5", "List the releases that fix something."},
			{"get_radar", "level=critical limit=5", "Read the critical warnings."},
		},
	},
	{
		slug: "release-notes", title: "How do I read what a release changed?",
		when: "Before a version is installed, or if something behaves in another way since. It finds the latest stable " +
			"release of a program or package, and reads the notes of that version.",
		subject: subject{"Program or package", []source{aProgram}},
		steps: []step{
			{"get_latest_release", "package={q}", "Find the latest stable release."},
			{"get_sdk_changelog", "version={1.version}", "Read its notes."},
			{"search_release_notes", "feature={q}", "Find other releases that speak of it."},
		},
	},
	{
		slug: "talk", title: "How do I find the talk in which something was explained?",
		when: "Some things were only ever said aloud. Titles and transcripts are searched, and the transcript of the " +
			"best talk begins below it.",
		subject: subject{"Topic", []source{aTalk}},
		steps: []step{
			{"search_talks", "query={q} limit=3", "Find the passages in talks."},
			{"get_video", "id={1.items.0.id} transcript_chars=600", "Open the best talk."},
		},
	},
	{
		slug: "partners-for-a-project", title: "How do I find projects that fit with mine?",
		when: "For builders who look for what they lack. Projects that complement one are ranked with the reasons, " +
			"and the packages that they stand on are shown with how far each is behind.",
		subject: aNamedProject,
		steps: []step{
			{"find_collaboration_opportunities", "project={q}", "Rank the projects that complement it."},
			{"ecosystem_dependency_graph", "topic={q}", "See what such projects are built on."},
		},
	},
	{
		slug: "out-of-date", title: "How do I find pages that are out of date?",
		when: "For whoever keeps documentation. Values that pages state are compared with live ones; what people ask " +
			"and nobody answers shows where a page is missing.",
		steps: []step{
			{"get_kb_drift", "", "Compare what is stated with what is measured."},
			{"get_ecosystem_gaps", "limit=3", "See which questions wait for an answer."},
		},
	},
}
