"""What a job is: the shape of its model and how it is spread over ranks.

What belongs here: shapes of models and their files, parallel layouts. What a job sends is worked out by ``model.traffic``.
"""
