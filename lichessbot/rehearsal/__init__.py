"""An embedded Lichess: a real HTTP server on loopback that speaks the Bot API, and the `rehearse` command.

Built from the API contract alone. It imports nothing of the daemon, so that client and server
cannot share a misreading; the rules of chess come from `engine.facade`.

Rooms, each importing only from the rows above its own:

    vocabulary · timing · streams · daemon      words of the contract, waits, open responses, the bot
    opponents · starts · traffic                ways to choose a move, start positions, kinds of requests and lines
    errors · clock · accounts · faults          refusals, time controls and clocks, users and tokens, what can go wrong
    mischief · conduct · refusals               when it goes wrong, whether the client behaves, answers that are none
    proxy · tampering                           connections that break, lines that are not what they should be
    setup · requests                            what is settled before the first move, who asks over HTTP
    game · challenges · quotas · arenas         one game, challenge, day and tournament: pure state
    presence · forms                            who is at the board, parameters in
    payloads                                    JSON out
    export · table                              games as PGN and JSON, one game with its streams and timers
    organiser                                   runs the tournaments
    site                                        everything Lichess does, on one event loop
    house · routes · ledger · pranks            the players of the house, HTTP, what faults cost, what people do
    obstacles · server                          what stands before the API, the serving thread
    cruelty · company                           all the faults for one bot, what opponents do beside moving
    match                                       a series of games
    options · display                           what can be asked for, what a person sees of the games
    report                                      what a person reads of the faults
    command                                     the `rehearse` command
"""
