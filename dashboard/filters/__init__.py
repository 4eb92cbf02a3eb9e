"""The sidebar: the filter, saved filters, the search's progress, export."""
