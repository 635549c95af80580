"""Requests, letters and offers, between what the kernel decides on and what goes over the wire."""

from __future__ import annotations

from typing import Final, assert_never

from bailiwick.apps.places import SCHEDULER_LABEL
from bailiwick.kernel.cells import offers as kernel
from bailiwick.kernel.cells.book import Taking
from bailiwick.kernel.cells.link import CellLetter, CellReply
from bailiwick.kernel.spelling import labels_body
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire import cells as wire
from bailiwick.wire.fleet import Resources
from bailiwick.wire.work import LeaseRequest

LETTER_BYTES_MAX: Final = 768 * 1024
"""Below what a server takes as a body; orders that do not go into one letter go into the next."""


def check_unscheduled(request: PlacementRequest) -> None:
    """Go on only if a request names no scheduler of an app."""
    word = request.job_labels.get(SCHEDULER_LABEL)
    if word is not None:
        told = "none: an app's scheduler is in one cell, and is asked there"
        raise InvalidValue("scheduler_type", word, told)


def spell_request(request: PlacementRequest) -> LeaseRequest:
    """A request as it is asked over the wire."""
    return LeaseRequest(
        tenant=str(request.tenant),
        project=None if request.project is None else str(request.project),
        resources=Resources(
            cpu_milli=request.cpu_milli,
            mem_bytes=request.mem_bytes,
            block_bytes=request.block_bytes,
        ),
        priority=request.priority,
        lease_class=request.lease_class,
        tag=None if request.tag is None else str(request.tag),
        labels=labels_body(request.labels),
        job_labels=labels_body(request.job_labels),
        gang_size=request.gang_size,
        ttl_ms=request.ttl_ms,
        gpu_count=request.gpu_count,
        gpu_milli=request.gpu_milli,
        gpu_vram=request.gpu_vram,
        gpu_models=list(request.gpu_models),
        gpu_generation=request.generation,
        exclusivity=request.exclusivity,
        deadline_ms=request.deadline_ms,
        preemptible_on_budget=request.preemptible_on_budget,
    )


def spell_letter(told: CellLetter, *, bytes_max: int = LETTER_BYTES_MAX) -> wire.HomeLetter:
    """A letter as it is sent, with as many of its orders as go into one, in their order."""
    orders, size = list[wire.LetterOrder](), 0
    for order in told.orders:
        request = None if order.request is None else spell_request(order.request)
        spelled = wire.LetterOrder(
            number=order.number,
            global_id=order.global_id,
            request=request,
            waits=order.waits,
            unbegun=order.unbegun,
        )
        size += len(spelled.model_dump_json().encode()) + 1  # bytes, as the server counts
        if orders and size > bytes_max:
            break
        orders.append(spelled)
    return wire.HomeLetter(
        home=told.home,
        epoch=told.epoch,
        not_after_ms=told.not_after_ms,
        orders=orders,
        heard=told.heard,
    )


def spell_reply(told: CellReply, *, free: tuple[int, int]) -> wire.LetterReply:
    """A cell's reply as it is sent."""
    news = [
        wire.LetterNews(
            global_id=global_id,
            number=each.number,
            status=each.status,
            seq=each.seq,
            leases=list(each.leases),
        )
        for global_id, each in told.news
    ]
    return wire.LetterReply(
        epoch=told.epoch,
        now_ms=told.now_ms,
        done=told.done,
        news=news,
        free_gpu_milli=free[0],
        free_cpu_milli=free[1],
        held=told.held,
        left=told.left,
    )


def reply_of(told: wire.LetterReply) -> CellReply:
    """A reply that came, as the kernel takes it."""
    news = tuple(
        (each.global_id, Taking(each.number, each.status, each.seq, leases=tuple(each.leases)))
        for each in told.news
    )
    return CellReply(told.epoch, told.now_ms, told.done, news, told.held, told.left)


def spell_offer(found: kernel.Offer) -> wire.CellOffer:
    """An offer as it is sent."""
    return wire.CellOffer(offer=_spell_offer(found))


def _spell_offer(found: kernel.Offer) -> wire.AnyOffer:
    match found:
        case kernel.CanStart(free_gpu_milli=gpu, free_cpu_milli=cpu):
            return wire.OfferStart(offer="can_start", free_gpu_milli=gpu, free_cpu_milli=cpu)
        case kernel.CanMakeRoom(cost=cost, ready_ms=ready_ms):
            return wire.OfferRoom(offer="can_make_room", cost=cost, ready_ms=ready_ms)
        case kernel.CanWait(starts_ms=starts_ms, reason=reason):
            return wire.OfferWait(offer="can_wait", starts_ms=starts_ms, reason=reason)
        case kernel.CannotRun(reason=reason):
            return wire.OfferNone(offer="cannot_run", reason=reason)
        case _:
            assert_never(found)


def offer_of(told: wire.CellOffer) -> kernel.Offer:
    """An offer that came, as the kernel chooses by it."""
    found = told.offer
    match found:
        case wire.OfferStart():
            return kernel.CanStart(found.free_gpu_milli, found.free_cpu_milli)
        case wire.OfferRoom():
            return kernel.CanMakeRoom(found.cost, found.ready_ms)
        case wire.OfferWait():
            return kernel.CanWait(found.starts_ms, found.reason)
        case wire.OfferNone():
            return kernel.CannotRun(found.reason)
        case _:
            assert_never(found)
