from llm.session import Session

session = Session(layers=4, width=512)
for turn in range(400):
    session.ask("a question of some length, as people ask them " * 4)
