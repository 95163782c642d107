"""Runs a program on a terminal of its own, types a line at each of its questions, prints what the terminal showed and its exit code.
Arguments: JSON of [[QUESTION, LINE], ...] PROGRAM [ARGUMENT...]"""
import json, os, pty, sys

dialogue, *program = sys.argv[1:]
pairs = json.loads(dialogue)
child, terminal = pty.fork()
if child == 0:
    os.execvp(program[0], program)
shown, seen = b"", 0
while True:
    try:
        data = os.read(terminal, 4096)
    except OSError:
        break
    if not data:
        break
    shown += data
    while pairs and pairs[0][0].encode() in shown[seen:]:
        question, line = pairs.pop(0)
        seen = shown.index(question.encode(), seen) + len(question.encode())
        os.write(terminal, line.encode())
_, status = os.waitpid(child, 0)
sys.stdout.write(shown.decode() + "\nexit " + str(os.waitstatus_to_exitcode(status)))
