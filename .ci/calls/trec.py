"""Measures TREC runs with pytrec_eval and compares the means with those that almanac printed for them.

pytrec_eval takes a grade as the gain, almanac 2^grade - 1: it is given that as the grade. It leaves out queries
without a ranking, which count as zeros here.

Usage: trec.py QRELS.tsv REPORTS.json
"""

import csv
import json
import sys

import pytrec_eval

MEASURES = {"ndcg10": "ndcg_cut_10", "mrr": "recip_rank", "p10": "P_10", "recall10": "recall_10",
            "recall100": "recall_100"}
TOLERANCE = 1e-6


def main(qrels_file, reports_file):
    qrels = {}
    with open(qrels_file, encoding="utf-8") as lines:
        for query, document, grade in list(csv.reader(lines, delimiter="\t"))[1:]:
            qrels.setdefault(query, {})[document] = 2 ** max(0, int(grade)) - 1
    with open(reports_file, encoding="utf-8") as file:
        reports = json.load(file)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(MEASURES.values()))
    wrong = 0
    for report in reports:
        with open(report["profile"], encoding="utf-8") as lines:
            run = pytrec_eval.parse_run(lines)
        assert all(len(set(of.values())) == len(of) for of in run.values()), "equal scores"
        by_query = evaluator.evaluate(run)
        for ours, theirs in MEASURES.items():
            want = sum(x[theirs] for x in by_query.values()) / len(qrels)
            if abs(report[ours] - want) > TOLERANCE:
                print(f"{report['profile']}: {ours} is {report[ours]}, {theirs} of pytrec_eval {want}")
                wrong += 1
    if wrong or len(reports) < 2 or any(r["queries"] != len(qrels) for r in reports):
        sys.exit("the measures differ")
    print(f"{len(MEASURES)} measures of {len(reports)} runs are those of pytrec_eval, {len(qrels)} queries each")


main(*sys.argv[1:])
