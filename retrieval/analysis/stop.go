package analysis

import "strings"

// IsStop reports whether a folded, unstemmed word is a function word of
// English: one that carries grammar rather than a topic. Documents keep them;
// queries leave them out of scoring unless nothing else remains.
func IsStop(word string) bool {
	_, ok := stopWords[word]
	return ok
}

// stopWords are articles, pronouns, prepositions, conjunctions, auxiliaries,
// question words, adverbs of degree and the verbs and nouns of asking, with
// contractions as folding spells them (without apostrophe).
var stopWords = func() map[string]struct{} {
	set := make(map[string]struct{}, 400)
	for _, word := range strings.Fields(stopText) {
		set[word] = struct{}{}
	}
	return set
}()

const stopText = `
a an the this that these those such same other another each every either neither both all any some no none few
many much more most less least several own certain various
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves one ones oneself somebody someone something anybody anyone
anything everybody everyone everything nobody nothing whoever whatever whichever
about above across after against along alongside amid among amongst around as at before behind below beneath beside
besides between beyond by concerning despite down during except for from in inside into like near of off on onto out
outside over past per regarding since than through throughout to toward towards under underneath unlike until up upon
versus via with within without
and but or nor so yet because although though unless whereas whether while if else then thus hence therefore however
moreover furthermore otherwise meanwhile nevertheless
am is are was were be been being do does did doing done have has had having can could may might must shall should will
would ought need needs cannot
what when where which who whom whose why how whats whos wheres whens whys hows wherever whenever
not never only just also too very quite rather really still already again ever even else almost always often
sometimes usually perhaps maybe soon here there now once twice today
im ive id ill youre youve youd youll hes shes weve theyre theyve theyd theyll thats thatll theres heres isnt arent wasnt
werent dont doesnt didnt havent hasnt hadnt cant couldnt wont wouldnt shouldnt mustnt mightnt neednt shant aint lets
its itll itd
able get gets getting got gotten give gives given make makes made making take takes let put seem seems seemed come
comes go goes going gone want wants wanted know knows please tell say says said see seen mean means happen happens
happened explain describe show
etc eg ie vs et al re ok okay yes
`
