# noxfile.py
import nox


@nox.session
def memory(session):
    session.install("-r", "requirements.txt")
    session.run(*"ohm exec --gpu h100-80g --baseline memory.json -- python train.py".split(), external=True)
