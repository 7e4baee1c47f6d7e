#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Help, man page, completions and docs/cli.md, which all come from one table: help.py BINARY [NAME]"""

import os
import re
import shutil
import subprocess
import sys

from support import ROOT, Skip, main, require



def needs(program):
    if not shutil.which(program):
        raise Skip(f"{program} is not installed")


def commands_of(f):
    """Those that the program's help lists."""
    listed = f.run("--help").stdout.split("Commands:\n")[1].split("\n\n")[0]
    commands = [line.split()[0] for line in listed.splitlines() if not line.startswith("   ")]
    require({"fit", "predict", "nll", "bandwidth", "simulate", "info", "man", "completion"} <= set(commands), commands)
    return commands


def flags_of(f, command):
    """Those that its help lists, not those it mentions."""
    return sorted(re.findall(r"^  (?:-\w, )?(--[a-z][\w-]*)", f.run(command, "--help").stdout, re.M))


def test_help_is_narrow_and_has_examples(f):
    for command in ([], *[[name] for name in commands_of(f)]):
        for flag in ("--help", "-h"):
            text = f.run(*command, flag).stdout
            require("Usage: bandgp" in text and "Examples:\n  " in text, text)
            body = text.split("Examples:")[0]
            require(max(map(len, body.splitlines())) <= 104, text)


def test_every_flag_is_in_every_rendering(f):
    manual, page = f.run("man").stdout, f.run("man", "--format", "markdown").stdout
    scripts = {shell: f.run("completion", shell).stdout for shell in ("bash", "zsh", "fish")}
    for command in commands_of(f):
        flags = flags_of(f, command)
        require("--help" in flags, flags)
        for flag in flags:
            require(flag.replace("-", "\\-") in manual and f"`{flag}" in page.replace("`-h, ", "`").replace("`-o, ", "`"), flag)
            require(flag in scripts["bash"] and flag in scripts["zsh"] and f" -l {flag[2:]}" in scripts["fish"], flag)


def test_the_page_in_docs_is_up_to_date(f):
    page = ROOT / "docs" / "cli.md"
    require(page.read_text() == f.run("man", "--format", "markdown").stdout, "docs/cli.md is out of date: run ./dev docs")


def test_man_page_has_no_warnings(f):
    f.write("bandgp.1", f.run("man").stdout)
    needs("groff")
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", "bandgp.1"], cwd=f.path, capture_output=True, text=True)
    require(done.returncode == 0 and done.stderr == "", done)
    needs("man")
    done = subprocess.run(["man", "--warnings", "-l", "bandgp.1"], cwd=f.path, capture_output=True, text=True,
                          env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
    require(done.returncode == 0 and done.stderr == "", done)
    for part in ("EXIT STATUS", "--tolerance NATS", "bandgp fit data/sunspots.csv -o model.json"):
        require(part in re.sub(".\b", "", done.stdout), part)


def test_unknown_shell_and_format(f):
    f.refused("completion", "tcsh", says="bash, zsh or fish")
    f.refused("completion", says="SHELL")
    f.refused("man", "--format", "pdf", says="roff or markdown")


# --- completions in the shells themselves ------------------------------------------------------------------------------

def bash(f, *words):
    """What bash offers for the last word; `=` is a word of its own, as in COMP_WORDS."""
    listing = " ".join(f"'{w}'" for w in words)
    script = (f"source <({f.binary} completion bash); COMP_WORDS=({listing}); COMP_CWORD={len(words) - 1}; _bandgp; "
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "--norc", "-c", script], cwd=f.path, capture_output=True, text=True)
    require(done.stderr == "", done.stderr)
    return sorted(done.stdout.split("\n")[:-1])


def test_bash(f):
    f.series("data file.csv")
    f.write("model.json", "")
    require(bash(f, "bandgp", "") == sorted([*commands_of(f), "--help", "--version"]), bash(f, "bandgp", ""))
    require(bash(f, "bandgp", "f") == ["fit"], "f")
    for command in commands_of(f):
        offered = [w for w in bash(f, "bandgp", command, "--") if w.startswith("--")]
        require(offered == flags_of(f, command), (command, offered, flags_of(f, command)))
    require(bash(f, "bandgp", "fit", "--me") == ["--mean", "--method"], "--me")
    for words in (["--mean", ""], ["--mean", "="], ["--mean", "=", ""]):
        require(bash(f, "bandgp", "fit", *words) == ["constant", "linear", "zero"], words)
    require(bash(f, "bandgp", "fit", "--bandwidth", "") == ["auto", "corollary", "lemma", "theorem"], "K is not a choice")
    require(bash(f, "bandgp", "fit", "--mean", "l") == ["linear"], "l")
    require(bash(f, "bandgp", "fit", "--kernel", "") == [""], "a text of one's own")
    require(bash(f, "bandgp", "fit", "") == ["data file.csv", "model.json"], bash(f, "bandgp", "fit", ""))
    require(bash(f, "bandgp", "predict", "m") == ["model.json"], "MODEL")
    require(bash(f, "bandgp", "fit", "x.csv", "-o", "mo") == ["model.json"], "-o")
    require(bash(f, "bandgp", "completion", "") == ["bash", "fish", "zsh"], "SHELL")


def test_fish(f):
    needs("fish")
    f.write("model.json", "")
    f.write("bandgp.fish", f.run("completion", "fish").stdout)

    def fish(line):
        done = subprocess.run(["fish", "--no-config", "-c", f"source bandgp.fish; complete -C '{line}'"], cwd=f.path,
                              capture_output=True, text=True, env={**os.environ, "HOME": str(f.path)})
        require(done.stderr == "", done.stderr)
        return sorted(line.split("\t")[0] for line in done.stdout.splitlines())
    require(fish("bandgp ") == sorted(commands_of(f)), fish("bandgp "))
    for command in commands_of(f):
        require([w for w in fish(f"bandgp {command} --") if w.startswith("--")] == flags_of(f, command), command)
    require(fish("bandgp fit --mean ") == ["constant", "linear", "zero"], fish("bandgp fit --mean "))
    require("model.json" in fish("bandgp predict mo"), fish("bandgp predict mo"))
    require(fish("bandgp completion ") == ["bash", "fish", "zsh"], fish("bandgp completion "))


def test_zsh(f):
    needs("zsh")
    f.write("model.json", "")
    f.write("_bandgp", f.run("completion", "zsh").stdout)
    # A zsh in a pseudo-terminal of zsh's own is asked to list what it would offer.
    f.write("ask.zsh", r'''
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'fpath=($PWD $fpath); autoload -Uz compinit; compinit -D -u'
zpty -w z 'compadd() { local -a found; builtin compadd -O found "$@"; print -rl -- $found >> $PWD/offers; builtin compadd "$@" }'
zpty -w -n z "$1"$'\t'
for i in {1..50}; do sleep 0.1; [[ -s offers ]] && break; done
sleep 0.3
zpty -d z
''')

    def zsh(line):
        (f.path / "offers").unlink(missing_ok=True)
        subprocess.run(["zsh", "-f", "ask.zsh", line], cwd=f.path, capture_output=True, text=True, timeout=30,
                       env={**os.environ, "TERM": "dumb", "HOME": str(f.path)})
        text = (f.path / "offers").read_text() if (f.path / "offers").exists() else ""
        return sorted({word.rstrip("=+") for word in text.split()})
    require(set(commands_of(f)) <= set(zsh("bandgp ")), zsh("bandgp "))
    offered = [w for w in zsh("bandgp fit --") if w.startswith("--")]
    require(set(flags_of(f, "fit")) <= set(offered), (offered, flags_of(f, "fit")))
    require({"constant", "linear", "zero"} <= set(zsh("bandgp fit --mean=")), zsh("bandgp fit --mean="))
    require({"bash", "fish", "zsh"} <= set(zsh("bandgp completion ")), zsh("bandgp completion "))


if __name__ == "__main__":
    sys.exit(main(globals()))
