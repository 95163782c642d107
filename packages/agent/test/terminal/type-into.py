"""Runs a program on a terminal of its own, types a line at its question, prints what the terminal showed and its exit code.
Arguments: QUESTION LINE PROGRAM [ARGUMENT...]"""
import os, pty, sys

question, line, *program = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(program[0], program)
shown, typed = b"", False
while True:
    try:
        data = os.read(terminal, 4096)
    except OSError:
        break
    if not data:
        break
    shown += data
    if not typed and question.encode() in shown:
        os.write(terminal, line.encode())
        typed = True
_, status = os.waitpid(child, 0)
sys.stdout.write(shown.decode() + "\nexit " + str(os.waitstatus_to_exitcode(status)))
