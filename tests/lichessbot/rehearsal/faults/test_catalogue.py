"""The catalogue of faults and the files that carry them out."""

import inspect
import re

import pytest

from lichessbot.rehearsal.faults import connection_faults, event_faults, http_faults, line_faults
from lichessbot.rehearsal.faults.catalogue import Fault, Layer

FILES = {
    Layer.LINES: (line_faults,),
    Layer.REQUESTS: (http_faults,),
    Layer.EVENTS: (event_faults, http_faults),
    Layer.CONNECTIONS: (connection_faults,),
}


@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.label)
def test_the_file_of_its_layer_carries_out_each_fault(fault: Fault) -> None:
    """Else the rehearsal would count it as survived."""
    source = "".join(inspect.getsource(file) for file in FILES[fault.spec.layer])
    names = [file.__name__ for file in FILES[fault.spec.layer]]
    assert re.search(rf"\bFault\.{fault.name}\b|\bLATE_{fault.name}\b", source), f"Fault.{fault.name} is not in {names}"
