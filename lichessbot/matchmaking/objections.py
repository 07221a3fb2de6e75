"""Why a single challenge that is wanted now is not sent: slots, quotas, block lists, earlier declines.

For rematches, and for challenges that the operator wants; also why bots that challenge us are declined. Decides nothing
else; the time is passed in.
"""

from lichessbot.challenges.player_lists import PlayerLists
from lichessbot.challenges.snapshot import Decline, Snapshot
from lichessbot.config import BlockLists, Config, MatchmakingConfig
from lichessbot.lichess.enums import DeclineReason
from lichessbot.matchmaking.known_bots import Declines
from lichessbot.matchmaking.quota import Quota
from lichessbot.matchmaking.selection import Proposal


class Objections:
    def __init__(self, quota: Quota, lists: PlayerLists, declines: Declines) -> None:
        self._quota = quota
        self._lists = lists
        self._declines = declines

    def is_blocked(self, config: Config, user_id: str) -> bool:
        """Return whether matchmaking leaves a bot alone, by command or by a list."""
        sections: list[BlockLists] = [config.matchmaking]
        if config.matchmaking.include_challenge_block_list:
            sections.append(config.challenge)
        return any(self._is_listed(it, user_id) for it in sections)

    def is_unwanted(self, it: Proposal, config: Config) -> bool:
        """Return whether an open challenge is to be withdrawn: matchmaking is off, or the opponent is on a list."""
        is_off = it.match_type_name is not None and not config.matchmaking.allow_matchmaking
        return is_off or self._is_barred(it, config)

    def _is_barred(self, it: Proposal, config: Config) -> bool:
        """Return whether the lists for the opponent's kind name it."""
        return self.is_blocked(config, it.opponent) if it.is_bot else self._is_listed(config.challenge, it.opponent)

    def _is_listed(self, section: BlockLists, user_id: str) -> bool:
        if user_id in self._lists.blocked or user_id in section.block_list:
            return True
        return self._lists.naming(user_id, section.block_lists_for(user_id)) is not None

    def to_bots(self, config: MatchmakingConfig, now_epoch_s: float, expected: int) -> Decline | None:
        """Return the answer to every bot that challenges us now, or None if a game against a bot is left today.

        `expected`: games against bots that are about to begin.
        """
        if self._quota.bot_game_at(config, now_epoch_s, expected) <= now_epoch_s:
            return None
        is_used_up = self._quota.bot_game_at(config, now_epoch_s) > now_epoch_s
        because = self._quota.in_words(config, now_epoch_s) if is_used_up else "the games left today are about to begin"
        return Decline(DeclineReason.LATER, self._quota.bot_games_rule(config, now_epoch_s), because)

    def to_rematch(self, it: Proposal, snapshot: Snapshot, now: float, now_epoch_s: float) -> str | None:
        """Return why a rematch is not offered; `now`: monotonic seconds."""
        config = snapshot.config
        if it.terms.variant not in snapshot.playable:
            return f"the engine does not play {it.terms.variant}"
        if snapshot.is_closed:
            return "no new games are taken"
        if snapshot.slots_for_our_games(is_bot=it.is_bot) <= 0:
            return "no slot is free"
        if now < snapshot.our_challenges_wait_until:
            return "the slot is kept for a human"
        if self._is_used_up(it, snapshot, now_epoch_s):
            return "a quota of Lichess or of matchmaking is used up"
        if self._is_barred(it, config):
            return "the opponent is on a block list"
        if it.is_bot and self._declines.rests_until(it.opponent, it.terms, now_epoch_s) > now_epoch_s:
            return "the bot declined such a challenge"
        return None

    def to_rechallenge(self, it: Proposal, snapshot: Snapshot, now_epoch_s: float) -> str | None:
        """Return why a challenge that the operator wants is not sent, whatever was declined before."""
        config = snapshot.config
        if it.terms.variant not in snapshot.playable:
            return f"the engine does not play {it.terms.variant}"
        if it.terms.has_clock:
            is_free = snapshot.slots_for_our_games(is_bot=it.is_bot) > 0
        else:
            is_free = snapshot.has_room_for_correspondence
        if not is_free:
            return "every slot is taken; try again after a game"
        if self._is_used_up(it, snapshot, now_epoch_s):
            limits = self._quota.limits(config.matchmaking, now_epoch_s)
            in_words = "; ".join(limit.in_words(now_epoch_s) for limit in limits)
            return f"a quota of Lichess or of matchmaking is used up: {in_words}"
        if self._is_barred(it, config):
            return f"{it.opponent} is blocked"
        return None

    def _is_used_up(self, it: Proposal, snapshot: Snapshot, now_epoch_s: float) -> bool:
        if it.is_bot and snapshot.objection_to_bots is not None:
            return True  # perhaps by games that are about to begin
        config = snapshot.config.matchmaking
        return self._quota.single_challenge_at(config, now_epoch_s, is_bot=it.is_bot) > now_epoch_s
