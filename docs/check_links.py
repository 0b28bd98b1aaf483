"""Checks that every relative link and anchor in the repository's Markdown files resolves. Run by hand from anywhere."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<!\\)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
CODE = re.compile(r"`[^`]*`")


def anchors(text):
    """Anchors of the headings, as GitHub makes them."""
    found, seen, fenced = set(), {}, False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        heading = None if fenced else re.match(r"#{1,6}\s+(.*)", line)
        if heading:
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).replace("`", "").strip().lower()
            slug = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
            count = seen.get(slug, 0)
            seen[slug] = count + 1
            found.add(slug if count == 0 else f"{slug}-{count}")
    return found


def links(text):
    """Targets of links outside of code, with the number of their paragraph's first line."""
    fenced, paragraph, first = False, "", 1
    for number, line in enumerate(text.splitlines() + [""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        if fenced or not line.strip():
            yield from ((first, target) for target in LINK.findall(CODE.sub("code", paragraph)))
            paragraph, first = "", number + 1
        else:
            paragraph += line + " "


def main():
    files = [path for path in ROOT.rglob("*.md") if not {"target", "out", "runs", "node_modules"} & set(path.relative_to(ROOT).parts)]
    broken = checked = 0
    for path in sorted(files):
        for number, target in links(path.read_text(encoding="utf-8")):
            if re.match(r"[a-z]+:", target):
                continue
            checked += 1
            name, _, anchor = target.partition("#")
            there = (path.parent / name).resolve() if name else path
            if not there.exists():
                problem = "no such file"
            elif anchor and there.suffix == ".md" and anchor not in anchors(there.read_text(encoding="utf-8")):
                problem = "no such heading"
            else:
                continue
            broken += 1
            print(f"{path.relative_to(ROOT)}:{number}: {target}: {problem}")
    print(f"{checked} links in {len(files)} files, {broken} broken")
    sys.exit(broken > 0)


main()
