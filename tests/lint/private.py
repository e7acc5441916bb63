"""Nothing in the tree points at one machine: no private path, no host or address, no secret."""
import re

import tree

RULES = [
    ("a path of one machine", re.compile(r"(?<![\w.$}])/(?:wor[k]|root|home/\w+|Users/\w+)/[\w.]")),
    ("an address", re.compile(r"\b(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")),
    ("a host", re.compile(r"\bhttps?://(?!localhost\b|127\.|www\.w3\.org/)[\w.-]+", re.IGNORECASE)),
    ("a private host", re.compile(r"\b[\w-]+\.(?:internal|intranet|corp|lan)\b")),
    ("a secret", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY|\b(?:ghp|gho|glpat|AKIA)[-_A-Za-z0-9]{16,}")),
    ("a number of an issue", re.compile(r"\b(?:[Ii]ssue|[Pp]ull request) #?\d+\b")),
]


def check(tree_):
    for name in tree_.files:
        with open(tree_.path(name), "rb") as file:
            head = file.read(1 << 20)
        if b"\0" in head:
            continue
        for number, line in enumerate(head.decode("utf-8", "replace").splitlines(), 1):
            for what, pattern in RULES:
                match = pattern.search(line)
                if match:
                    yield f"{name}:{number}: {what}: {match.group(0)}"


CLEAN = {"README.md": "Run `jobs/quickstart.sh`, look at /dev/shm/x and 127.0.0.1, version 1.2.3\n"}
PLANTED = [
    ("a home folder", {"a.sh": "cd /ho" + "me/ann/src\n"}, "a path of one machine"),
    ("a root's folder", {"a.sh": "cd /ro" + "ot/x\n"}, "a path of one machine"),
    ("an address", {"a.sh": "ping 10.0" + ".0.7\n"}, "an address"),
    ("a web host", {"a.sh": "curl https:/" + "/mirror.example.org/x\n"}, "a host"),
    ("a key", {"a.txt": "-----BEGIN RSA PRIV" + "ATE KEY-----\n"}, "a secret"),
]

if __name__ == "__main__":
    tree.main(check, CLEAN, PLANTED)
