"""Jobs on machines that joined the fleet: what is to be so there, and what their agents saw."""
