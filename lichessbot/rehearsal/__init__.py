"""An embedded Lichess: a real HTTP server on loopback that speaks the Bot API, and the `rehearse` command.

Built from the API contract alone. It imports nothing of the daemon, so that client and server
cannot share a misreading; the rules of chess come from `engine.facade`.

Rooms, each importing only from the rows above its own:

    vocabulary · timing · streams · daemon      words of the contract, waits, open responses, the bot
    opponents · starts                          ways to choose a move, positions for From Position games
    errors · clock · accounts                   refusals, time controls and clocks, users and tokens
    setup · requests                            what is settled before the first move, who asks over HTTP
    game · challenges                           one game, one challenge: pure state
    presence · forms                            who is at the board, parameters in
    payloads                                    JSON out
    export · table                              games as PGN and JSON, one game with its streams and timers
    site                                        everything Lichess does, on one event loop
    house · routes                              the players of the house, HTTP in front of the site
    match · server                              a series of games, the serving thread
    display                                     what a person sees
    command                                     the `rehearse` command
"""
